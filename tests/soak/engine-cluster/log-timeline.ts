// The logs of the instances during a disturbance, merged by their clocks: they show where time
// passes without an acknowledgement.
import type { Instance } from './cluster.ts';

/** Lines that say a step of a change of leaders. */
const COMPONENTS: ReadonlySet<unknown> = new Set(['cluster', 'service']);

export class LogTimeline {
  /** How much of the output of a process was read. */
  readonly #read = new WeakMap<Instance['process'], number>();

  /** Lines since this was asked the last time, with milliseconds since a moment. */
  take(instances: readonly Instance[], sinceMs: number): readonly string[] {
    const lines = instances.flatMap(({ name, process }) => {
      const output = process.errorOutput();
      const from = this.#read.get(process) ?? 0;
      const end = output.lastIndexOf('\n') + 1;
      this.#read.set(process, end);
      return output
        .slice(from, end)
        .split('\n')
        .flatMap((line) => entryOf(line, name));
    });
    return lines
      .sort((x, y) => x.atMs - y.atMs)
      .map(({ atMs, text }) => `${String(Math.round(atMs - sinceMs)).padStart(7)} ms ${text}`);
  }
}

function entryOf(line: string, name: string): readonly { atMs: number; text: string }[] {
  if (!line.startsWith('{')) return [];
  const {
    time,
    msg,
    component,
    level: _,
    service: __,
    ...fields
  } = JSON.parse(line) as Record<string, unknown>;
  if (!COMPONENTS.has(component)) return [];
  const said = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return [{ atMs: Date.parse(String(time)), text: `${name} ${String(msg)} ${said.join(' ')}` }];
}
