// Clients of the soak: each writer sends one batch after the other until it is acknowledged, each
// reader asks how much there is. All of them go through the balancer.
import { setTimeout as sleep } from 'node:timers/promises';

import { send } from '@tidemark/testkit';

export const DATABASE = 'soak';

const WRITERS = 4;
const READERS = 2;
/** Points that are written together. */
export const BATCH = 20;

/** Of each writer, so that every batch has rows for both shards. */
const SERIES = 10;

/** A client gives up what is not answered by then, and asks again. */
const ATTEMPT_MS = 15_000;

/** What a request came to that was not answered as wanted. */
export type Trouble = {
  readonly what: 'write' | 'read';
  /** 0: the connection broke. */
  readonly status: number;
  readonly text: string;
};

export class Load {
  readonly #url: () => string;
  /** Points that each writer has acknowledged: 0 to this number. */
  readonly acknowledged = Array.from({ length: WRITERS }, () => 0);
  readonly #problems: string[] = [];
  #troubles: Trouble[] = [];
  #partial = 0;
  reads = 0;
  #isStopped = false;
  #lastMs = performance.now();
  #gapMs = 0;

  constructor(url: () => string) {
    this.#url = url;
  }

  /** What must never be. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Since this was asked last. */
  take(): {
    readonly troubles: readonly Trouble[];
    readonly partial: number;
    readonly gapMs: number;
  } {
    const gapMs = Math.max(this.#gapMs, performance.now() - this.#lastMs);
    const taken = { troubles: this.#troubles, partial: this.#partial, gapMs: Math.round(gapMs) };
    this.#troubles = [];
    this.#partial = 0;
    this.#gapMs = 0;
    return taken;
  }

  get total(): number {
    return this.acknowledged.reduce((sum, count) => sum + count, 0);
  }

  async run(): Promise<void> {
    await Promise.all([
      ...Array.from({ length: WRITERS }, (_, writer) => this.#write(writer)),
      ...Array.from({ length: READERS }, () => this.#read()),
    ]);
  }

  /** Every batch that was begun is acknowledged before `run` resolves. */
  stop(): void {
    this.#isStopped = true;
  }

  async #write(writer: number): Promise<void> {
    for (let first = 0; !this.#isStopped; first += BATCH) {
      const lines = Array.from({ length: BATCH }, (_, i) => {
        const n = first + i;
        return `m,w=${writer},s=${n % SERIES} n=${n}i ${n + 1}`;
      });
      // One point of all batches, which the last one leaves.
      lines.push(`last,w=${writer} n=${first}i 1`);
      const body = lines.join('\n');
      while ((await this.#ask('write', `/write?db=${DATABASE}`, body, 204)) === undefined);
      this.acknowledged[writer] = first + BATCH;
      const now = performance.now();
      this.#gapMs = Math.max(this.#gapMs, now - this.#lastMs);
      this.#lastMs = now;
    }
  }

  async #read(): Promise<void> {
    while (!this.#isStopped) {
      const before = this.total;
      const form = new URLSearchParams({ q: 'SELECT count(n) FROM m', db: DATABASE });
      const text = await this.#ask('read', '/query', form, 200);
      if (text === undefined || text === '') continue;
      this.reads++;
      if (text.includes('"partial":true')) {
        this.#partial++;
        if (!text.includes('of the cluster does not answer'))
          this.#problems.push(`a partial answer does not say of what: ${text}`);
        continue;
      }
      const [, count = '0'] = /\[\[[^,]+,(\d+)\]\]/.exec(text) ?? [];
      if (Number(count) < before)
        this.#problems.push(`${before} points were acknowledged, then there were ${count}`);
    }
  }

  /** The text of a wanted answer, which may be empty; `undefined` otherwise. */
  async #ask(
    what: Trouble['what'],
    path: string,
    body: string | URLSearchParams,
    wanted: number,
  ): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      const { status, text } = await send(this.#url() + path, { method: 'POST', body, signal });
      if (status === wanted && !text.includes('"error"')) return text;
      this.#troubles.push({ what, status, text: text.trim() });
      if (what === 'write' && status !== 503 && status !== 500)
        this.#problems.push(`a write is answered with ${status}: ${text}`);
    } catch (error) {
      this.#troubles.push({ what, status: 0, text: String(error) });
    }
    // Clients that come again at once would only heat the machine.
    await sleep(50);
    return undefined;
  }
}
