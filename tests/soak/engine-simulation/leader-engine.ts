// What a leader runs in a simulation, over the real store and the real logs: definitions of two
// tables that belong together, a task that counts points and is saved now and then, and a handler.
import { Unavailable } from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import type { SharedLog } from '@tidemark/cluster';
import type { Term } from '../../../packages/engine/src/cluster/instance-role.ts';
import type { Metadata } from '../../../packages/engine/src/store/metadata.ts';
import type { StoreChange } from '../../../packages/engine/src/store/tables.ts';
import { Ticker } from '../../../packages/engine/src/ticker.ts';

/** State of the task: how often it has counted each point, up to a record. */
type Counted = { readonly sequence: number; readonly counts: Readonly<Record<string, number>> };

export type LeaderEngineOptions = {
  readonly term: Term;
  readonly points: SharedLog;
  readonly clock: Clock;
  readonly mayAct: () => boolean;
  /** Delivers an event; what was begun cannot be called back. */
  readonly deliver: (point: string) => Promise<void>;
  readonly missing: (count: number) => void;
};

const SAVE_MS = 1000;
const RETRY_MS = 100;
const STATE = 'counting';
const HANDLER = 'handler';

/** Every so many points raise an event. */
export const EVENT_EVERY = 4;

export class LeaderEngine {
  readonly #options: LeaderEngineOptions;
  readonly #metadata: Metadata;
  readonly #closed = new AbortController();
  #sequence = 0;
  #counts = new Map<string, number>();
  #nextEvent = 1;
  readonly #told = new Set<string>();

  private constructor(options: LeaderEngineOptions) {
    this.#options = options;
    this.#metadata = options.term.metadata;
  }

  static async open(options: LeaderEngineOptions, parts: OpenParts): Promise<LeaderEngine> {
    const engine = new LeaderEngine(options);
    await engine.#restore();
    const signal = AbortSignal.any([options.term.signal, engine.#closed.signal]);
    const counting = engine.#run(signal);
    parts.add(async () => {
      engine.#closed.abort();
      await counting;
    });
    const saving = new Ticker(options.clock, SAVE_MS, () => engine.#save());
    parts.add(() => saving.close());
    return engine;
  }

  async #restore(): Promise<void> {
    const stored = this.#metadata.read('snapshots').get(STATE);
    if (stored !== undefined) {
      const { sequence, counts } = JSON.parse(stored.toString('utf8')) as Counted;
      this.#sequence = sequence;
      this.#counts = new Map(Object.entries(counts));
    }
    for (const [, number] of this.#metadata.read('outbox').keys())
      this.#nextEvent = Math.max(this.#nextEvent, Number(number) + 1);
    const { first } = await this.#options.points.ends();
    if (first > this.#sequence + 1) this.#options.missing(first - this.#sequence - 1);
  }

  /** Puts a definition with what belongs to it, or removes both. */
  async define(id: string, value: string | undefined): Promise<void> {
    await this.#metadata.commit([
      ...this.#metadata.table('templates').changes({ id, value }),
      ...this.#metadata.table('tasks').changes({ id, value }),
    ]);
  }

  async write(point: string): Promise<void> {
    const { points, term, mayAct } = this.#options;
    if (!mayAct()) throw new Unavailable('not leading');
    await points.append(Buffer.from(point), { signal: term.signal });
  }

  /** Counts, and tells what waits; what fails is done again. Never rejects. */
  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#deliverWaiting();
        await this.#count(signal);
      } catch {
        // Not leading, or no answer: until the term ends it may work again.
        await this.#options.clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  async #count(signal: AbortSignal): Promise<void> {
    const { points } = this.#options;
    for await (const record of points.read({ first: this.#sequence + 1, signal })) {
      const point = Buffer.from(record.bytes).toString('utf8');
      if (record.sequence % EVENT_EVERY === 0) await this.#raise(point, record.sequence);
      this.#counts.set(point, (this.#counts.get(point) ?? 0) + 1);
      this.#sequence = record.sequence;
    }
  }

  /** The event and what caused it are one change: a point that is read again raises nothing. */
  async #raise(point: string, record: number): Promise<void> {
    const cause = this.#metadata.table<{ readonly record: number }>('told-events');
    if ((cause.get(STATE)?.record ?? 0) >= record) return;
    const entry: StoreChange = {
      table: 'outbox',
      key: [HANDLER, this.#nextEvent++],
      value: Buffer.from(point),
    };
    await this.#metadata.commit([...cause.changes({ id: STATE, value: { record } }), entry]);
    await this.#deliverWaiting();
  }

  async #deliverWaiting(): Promise<void> {
    const waiting = Array.from(this.#metadata.read('outbox').range());
    for (const { key, value } of waiting) {
      if (!this.#options.mayAct()) throw new Unavailable('not leading');
      // Once by one leader, also when that cannot be stored yet.
      const point = value.toString('utf8');
      if (!this.#told.has(point)) await this.#options.deliver(point);
      this.#told.add(point);
      await this.#metadata.commit([{ table: 'outbox', key, value: undefined }]);
    }
  }

  async #save(): Promise<void> {
    const { points } = this.#options;
    const state: Counted = {
      sequence: this.#sequence,
      counts: Object.fromEntries(this.#counts),
    };
    try {
      const value = Buffer.from(JSON.stringify(state));
      await this.#metadata.commit([{ table: 'snapshots', key: STATE, value }]);
      await points.purge(state.sequence + 1);
    } catch {
      // The next time; nothing is purged that no state has.
    }
  }

  /** What the task has counted, whoever asks. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
