// Taps on the tasks of a host, and their messages until they are sent.
import type { TapMessage } from '../running-task.ts';
import type { InlineTask } from '../task.ts';
import type { HostItem, ToHost } from './protocol.ts';

/** Beyond this many items that the engine's thread has not handled, taps lose messages. */
const UNHANDLED_TAPPED_MAX = 1_000;

export class HostTaps {
  readonly #unhandledCount: () => number;
  readonly #scheduleFlush: () => void;
  readonly #stops = new Map<number, () => void>();
  /** Messages since the last flush, by tap. */
  readonly #messages = new Map<number, TapMessage[]>();

  constructor(host: { readonly unhandledCount: () => number; readonly scheduleFlush: () => void }) {
    this.#unhandledCount = host.unhandledCount;
    this.#scheduleFlush = host.scheduleFlush;
  }

  start(task: InlineTask, { tap, nodeName, options }: ToHost & { kind: 'tap' }): void {
    let droppedCount = 0;
    const stop = task.tap(
      nodeName,
      (message) => {
        let messages = this.#messages.get(tap);
        if (this.#unhandledCount() + (messages?.length ?? 0) > UNHANDLED_TAPPED_MAX) {
          droppedCount++;
          return;
        }
        if (messages === undefined) this.#messages.set(tap, (messages = []));
        if (droppedCount > 0) {
          messages.push({ kind: 'dropped', edge: nodeName, count: droppedCount });
        }
        droppedCount = 0;
        messages.push(message);
        this.#scheduleFlush();
      },
      options,
    );
    this.#stops.set(tap, stop);
  }

  stop(tap: number): void {
    this.#stops.get(tap)?.();
    this.#stops.delete(tap);
  }

  /** The messages since the last time. */
  take(): readonly HostItem[] {
    const items = [...this.#messages].map(([tap, messages]): HostItem => ({
      kind: 'tapped',
      tap,
      messages,
    }));
    this.#messages.clear();
    return items;
  }
}
