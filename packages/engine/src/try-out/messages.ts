// The output of a try-out, as lines of the response.
import { formatRfc3339 } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { TapMessage } from '@tidemark/runtime';
import { printJson } from '../formats/json.ts';
import { printTapMessage } from './tap-message.ts';
import { TRY_OUT_LINES } from '../limits.ts';
import type { Tried, TriedEvent } from './outside.ts';

/** Limit for a body that would have been sent. */
const TEXT_CHARS_MAX = 4096;

export class Messages {
  readonly #redact: (text: string) => string;
  #lines: (TapMessage | Tried)[] = [];
  #count = 0;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Number of messages so far. */
  get count(): number {
    return this.#count;
  }

  tapped(message: TapMessage): void {
    this.#add(message);
  }

  tried(tried: Tried): void {
    this.#add(tried);
  }

  // One step can make many: those beyond the limit are not kept either.
  #add(message: TapMessage | Tried): void {
    this.#count++;
    if (this.#count <= TRY_OUT_LINES.value) this.#lines.push(message);
  }

  /** Returns the messages since the last call, and the present time of the clock. */
  *take(time: Timestamp | undefined): Iterable<string> {
    const lines = this.#lines;
    this.#lines = [];
    for (const line of lines) yield `${this.#print(line)}\n`;
    if (time !== undefined) {
      yield `${printJson({ kind: 'clock', time: formatRfc3339(time) })}\n`;
    }
  }

  /** The last line. */
  end({
    count,
    problem,
    stats,
  }: {
    readonly count: number;
    readonly problem: string;
    readonly stats: Readonly<Record<string, unknown>>;
  }): string {
    return `${printJson({ kind: 'end', count, problem: this.#redact(problem), stats })}\n`;
  }

  #print(line: TapMessage | Tried): string {
    switch (line.kind) {
      case 'event':
        return printJson(printEvent(line));
      case 'effect': {
        const { kind, what, target, text } = line;
        const shown = this.#redact(text.slice(0, TEXT_CHARS_MAX));
        return printJson({ kind, what, target: this.#redact(target), text: shown });
      }
      case 'log': {
        const { kind, level, node, message, context } = line;
        const shown = Object.entries(context).map(([name, value]) => [
          name,
          this.#redact(String(value)),
        ]);
        return printJson({
          kind,
          level,
          node,
          message: this.#redact(message),
          context: Object.fromEntries(shown),
        });
      }
      default:
        return printTapMessage(line);
    }
  }
}

function printEvent({ event, previous, topics, handlers }: TriedEvent): object {
  const { id, message, details, time, durationNanos, level, context } = event;
  return {
    kind: 'event',
    id,
    level,
    previous,
    message,
    details,
    time: formatRfc3339(time),
    duration: durationNanos,
    tags: context.tags,
    topics,
    handlers,
  };
}
