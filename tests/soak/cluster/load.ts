// Clients of the soak: each writer repeats a batch until it is acknowledged, each reader counts
// rows. All of them use the balancer.
import type { Client, Trouble } from './client.ts';

const WRITERS = 4;
const READERS = 2;
/** Points that are written together. */
export const BATCH = 20;

/** Series of each writer, so that every batch has rows for both shards. */
const SERIES = 10;

export class Load {
  readonly #client: Client;
  /** Points that each writer has acknowledged: 0 to this number. */
  readonly acknowledged = Array.from({ length: WRITERS }, () => 0);
  #partial = 0;
  reads = 0;
  #isStopped = false;
  #lastMs = performance.now();
  #gapMs = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Since this was asked last. */
  take(): {
    readonly troubles: readonly Trouble[];
    readonly partial: number;
    readonly gapMs: number;
  } {
    const gapMs = Math.max(this.#gapMs, performance.now() - this.#lastMs);
    const troubles = this.#client.takeTroubles();
    const taken = { troubles, partial: this.#partial, gapMs: Math.round(gapMs) };
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
      while ((await this.#client.write(body)) === undefined);
      this.acknowledged[writer] = first + BATCH;
      const now = performance.now();
      this.#gapMs = Math.max(this.#gapMs, now - this.#lastMs);
      this.#lastMs = now;
    }
  }

  async #read(): Promise<void> {
    while (!this.#isStopped) {
      const before = this.total;
      const text = await this.#client.read('SELECT count(n) FROM m');
      if (text === undefined || text === '') continue;
      this.reads++;
      if (text.includes('"partial":true')) {
        this.#partial++;
        if (!text.includes('of the cluster does not answer'))
          this.#client.problem(`a partial answer does not say of what: ${text}`);
        continue;
      }
      const [, count = '0'] = /\[\[[^,]+,(\d+)\]\]/.exec(text) ?? [];
      if (Number(count) < before)
        this.#client.problem(`${before} points were acknowledged, then there were ${count}`);
    }
  }
}
