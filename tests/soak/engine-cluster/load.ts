// Writes points as collectors do: many lines at once, one write after the other of a database, each
// until it is acknowledged. Databases do not wait for each other. Now and then an old write is
// repeated, as by a client that has not heard of its acknowledgement: its points come out of the
// order of their times.
import { eventually, seededRandom } from '@tidemark/testkit';

import type { EngineCluster, Instance } from './cluster.ts';
import { DATABASE_COUNT, databaseOf, lineOf, POLICY } from './tasks.ts';

const TICK_MS = 100;

/** A write has at most so many lines, and begins at the latest after this time. */
const LINES_MAX = 5000;
const FLUSH_MS = 1000;

/** Behind so many writes, on average, an old one is repeated. */
const WRITES_PER_OLD_ONE = 10;

/** A client waits for an answer for so many leases. */
const ATTEMPT_LEASES = 2;

export type LoadOptions = {
  readonly tasks: number;
  readonly pointsPerSecond: number;
  readonly seed: number;
  readonly patienceMs: number;
};

/** Unwritten lines of a database. */
type Waiting = { readonly lines: string[]; readonly sinceMs: number };

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export class Load {
  readonly #cluster: EngineCluster;
  readonly #options: LoadOptions;
  readonly #perTick: number;
  readonly #random: () => number;
  /** Instances that clients would not use at present. */
  readonly avoided = new Set<Instance>();
  readonly #asked = new Map<Instance, number>();
  /** Number of the next point of each task. */
  readonly #next: number[];
  /** How often each write was sent that was acknowledged, by its first line. */
  readonly sent = new Map<string, number>();
  /** An earlier write of each database. */
  readonly #old = new Map<string, readonly string[]>();
  acknowledged = 0;
  repeated = 0;
  #gapMs = 0;
  #lastMs = performance.now();
  #waitingLines = 0;
  #isStopped = false;

  constructor(cluster: EngineCluster, options: LoadOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#perTick = Math.max(1, Math.round((options.pointsPerSecond * TICK_MS) / 1000));
    this.#random = seededRandom(options.seed);
    this.#next = Array.from({ length: options.tasks }, () => 0);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Longest time without an acknowledgement since this was asked the last time. */
  takeGapMs(): number {
    const gap = Math.max(this.#gapMs, performance.now() - this.#lastMs);
    this.#gapMs = 0;
    return gap;
  }

  async run(): Promise<void> {
    const waiting = new Map<string, Waiting>();
    const writing = new Map<string, Promise<void>>();
    const flush = (database: string, { lines }: Waiting): void => {
      waiting.delete(database);
      const write = (writing.get(database) ?? Promise.resolve()).then(() =>
        this.#write(database, lines),
      );
      writing.set(database, write);
    };
    let at = 0;
    while (!this.#isStopped) {
      const began = performance.now();
      // A slow service is not given more and more.
      if (this.#waitingLines < LINES_MAX * DATABASE_COUNT)
        for (let i = 0; i < this.#perTick; i++) this.#addPoint(at++ % this.#options.tasks, waiting);
      for (const [database, own] of waiting)
        if (own.lines.length >= LINES_MAX || began - own.sinceMs >= FLUSH_MS) flush(database, own);
      await sleep(Math.max(0, TICK_MS - (performance.now() - began)));
    }
    for (const [database, own] of waiting) flush(database, own);
    await Promise.all(writing.values());
  }

  #addPoint(task: number, waiting: Map<string, Waiting>): void {
    const n = this.#next[task] ?? 0;
    this.#next[task] = n + 1;
    const line = lineOf(task, n);
    const database = databaseOf(task);
    const own = waiting.get(database);
    if (own === undefined) waiting.set(database, { lines: [line], sinceMs: performance.now() });
    else own.lines.push(line);
    this.#waitingLines++;
  }

  async #write(database: string, lines: readonly string[]): Promise<void> {
    await this.#send(database, lines);
    this.acknowledged += lines.length;
    this.#waitingLines -= lines.length;
    const old = this.#old.get(database);
    const isRepeating = old !== undefined && this.#random() < 1 / WRITES_PER_OLD_ONE;
    if (isRepeating) {
      this.repeated += old.length;
      await this.#send(database, old);
    }
    if (isRepeating || old === undefined) this.#old.set(database, lines);
  }

  /** Until it is acknowledged. */
  async #send(database: string, lines: readonly string[]): Promise<void> {
    const body = lines.join('\n');
    const first = lines[0] ?? '';
    for (;;) {
      const usable = this.#cluster.instances.filter((one) => !this.avoided.has(one));
      const instance = usable[Math.floor(this.#random() * usable.length)];
      if (instance === undefined) throw new Error('an instance is not disturbed');
      this.sent.set(first, (this.sent.get(first) ?? 0) + 1);
      if (await this.#ask(instance, `/engine/v1/write?db=${database}&rp=${POLICY}`, body)) break;
      this.repeated += lines.length;
      await sleep(50);
    }
    const now = performance.now();
    this.#gapMs = Math.max(this.#gapMs, now - this.#lastMs);
    this.#lastMs = now;
  }

  async #ask(instance: Instance, path: string, body: string): Promise<boolean> {
    this.#asked.set(instance, this.#asking(instance) + 1);
    const taken = await this.#isTaken(instance.url + path, body);
    this.#asked.set(instance, this.#asking(instance) - 1);
    return taken;
  }

  async #isTaken(url: string, body: string): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(ATTEMPT_LEASES * this.#cluster.leaseMs);
      return (await fetch(url, { method: 'POST', body, signal })).status === 204;
    } catch {
      // The instance is gone, which is the purpose of this.
      return false;
    }
  }

  #asking(instance: Instance): number {
    return this.#asked.get(instance) ?? 0;
  }

  /**
   * Clients use other instances from now on. What was sent to it is answered: a request that lies
   * in the socket of a stopped process is served when that goes on, long after it was repeated.
   */
  async avoid(instance: Instance): Promise<void> {
    this.avoided.add(instance);
    const isIdle = (): Promise<true | undefined> =>
      Promise.resolve(this.#asking(instance) === 0 ? true : undefined);
    await eventually('answers', isIdle, this.#options.patienceMs);
  }
}
