// The receiver of all alerts of an engine, which records what it received and when.
import { TestServer } from '@tidemark/testkit';

import { taskOf } from './tasks.ts';

export type SentEvent = {
  /** The same text for the same event. */
  readonly text: string;
  /** Time of receipt by the monotonic clock. */
  readonly atMs: number;
};

type Posted = {
  readonly id: string;
  readonly message: string;
  readonly level: string;
  readonly time: string;
  readonly duration: number;
};

export class SentEvents {
  readonly #server: TestServer;
  /** By task, in the order in which they were received. */
  readonly byTask: readonly SentEvent[][];
  count = 0;
  #gapMs = 0;
  #lastMs = performance.now();

  private constructor(tasks: number) {
    this.byTask = Array.from({ length: tasks }, () => []);
    this.#server = new TestServer(({ body }) => {
      const { id, message, level, time, duration } = JSON.parse(body) as Posted;
      const atMs = performance.now();
      const text = JSON.stringify({ message, level, time, duration });
      this.byTask[taskOf(id)]?.push({ text, atMs });
      this.count++;
      this.#gapMs = Math.max(this.#gapMs, atMs - this.#lastMs);
      this.#lastMs = atMs;
      // Hours of requests would not fit.
      this.#server.requests.length = 0;
      return {};
    });
  }

  static async open(tasks: number): Promise<SentEvents> {
    const events = new SentEvents(tasks);
    await events.#server.open();
    return events;
  }

  get url(): string {
    return this.#server.url;
  }

  /** Longest time without an event since this was asked the last time. */
  takeGapMs(): number {
    const gapMs = Math.max(this.#gapMs, performance.now() - this.#lastMs);
    this.#gapMs = 0;
    return gapMs;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
