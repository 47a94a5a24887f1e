// The latest lines about each task, for readers that begin to follow its log. Warnings and errors
// are kept apart, so that a node that logs every point does not displace them.
import { LOG_HISTORY_BYTES, LOG_HISTORY_LINES } from '../limits.ts';
import type { LogLine } from './log-hub.ts';

export type KeptLine = {
  readonly line: LogLine;
  /** The databases that its data came from. */
  readonly sources: readonly string[];
  readonly sequence: number;
  readonly sizeBytes: number;
};

/** Objects and names of a line. */
const LINE_BYTES = 200;

export class LogHistory {
  /** By task and loudness, the one that was written to last at the end. */
  readonly #kept = new Map<string, KeptLine[]>();
  #sequence = 0;
  #bytes = 0;

  add(task: string, line: LogLine, sources: readonly string[]): void {
    const key = keyOf(task, line.lvl === 'warn' || line.lvl === 'error');
    const lines = this.#kept.get(key) ?? [];
    const sizeBytes = sizeOf(line);
    lines.push({ line, sources, sequence: this.#sequence++, sizeBytes });
    this.#bytes += sizeBytes;
    if (lines.length > LOG_HISTORY_LINES.value) this.#bytes -= lines.shift()?.sizeBytes ?? 0;
    this.#kept.delete(key);
    this.#kept.set(key, lines);
    while (this.#bytes > LOG_HISTORY_BYTES.value) this.#dropOldest();
  }

  /** In the order of logging. */
  of(task: string): readonly KeptLine[] {
    return [true, false]
      .flatMap((isLoud) => this.#kept.get(keyOf(task, isLoud)) ?? [])
      .sort((a, b) => a.sequence - b.sequence);
  }

  /** Of the tasks that have been silent for the longest time. */
  #dropOldest(): void {
    for (const [key, lines] of this.#kept) {
      this.#bytes -= lines.shift()?.sizeBytes ?? 0;
      if (lines.length === 0) this.#kept.delete(key);
      return;
    }
  }
}

const keyOf = (task: string, isLoud: boolean): string => `${isLoud ? '!' : '.'}${task}`;

function sizeOf({ msg, fields }: LogLine): number {
  let size = LINE_BYTES + msg.length;
  for (const value of Object.values(fields)) if (typeof value === 'string') size += value.length;
  return size;
}
