// Appends points of loopback nodes to the log of points, each once. A unit that continues from an
// older state writes the same points again; they are recognised by the position of their cause, the
// row of the log that the unit was processing. Points that no row has caused (timers, queries) have
// no such position.
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { EventCause, PointInput } from '@tidemark/runtime';
import { opening } from '../opening.ts';
import type { Logger } from '../observability/log-hub.ts';

/** Points that one row caused, or some without a cause. */
export type Looped = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly points: readonly PointInput[];
  readonly cause: EventCause | undefined;
};

export type LoopedPointsOptions = {
  /** Appends points with their last cause to the log. */
  readonly append: (looped: Looped) => Promise<void>;
  /** Resolves when the causes in the log are known. */
  readonly causesKnown: () => Promise<void>;
  /** Whether this instance leads: otherwise another one may append the same points. */
  readonly isLeading: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted with the term. */
  readonly signal: AbortSignal;
};

type Position = Pick<EventCause, 'record' | 'row'>;

/** All points that one row causes have one turn. */
type Added = Looped & { readonly turn: number };

/**
 * Interval at which an instance whose lease has ended checks whether it was renewed or the term is
 * over.
 */
const LOOK_MS = 20;

/** Points that one record may hold. */
const MERGED_MAX = 2000;

export class LoopedPoints {
  readonly #options: LoopedPointsOptions;
  /** The last cause of each unit and target that is in the log, or will be, and its turn. */
  readonly #last = new Map<string, Position & { readonly turn: number }>();
  #turn = 1;
  #isTurnOpen = false;
  #waiting: Added[] = [];
  #addedCount = 0;
  #keptCount = 0;
  /** Resolved when some are stored, or no more will be. */
  #changed = opening();
  #isWorking = false;

  constructor(options: LoopedPointsOptions) {
    this.#options = options;
  }

  /** A cause that the log has. */
  learn(cause: EventCause, target: Pick<Looped, 'database' | 'retentionPolicy'>): void {
    const key = keyOf(cause, target);
    if (isBehind(cause, this.#last.get(key))) this.#last.set(key, { ...cause, turn: 0 });
  }

  /** Adds points; those that are in the log already are left out. */
  add(looped: Looped): void {
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      this.#turn++;
      queueMicrotask(() => (this.#isTurnOpen = false));
    }
    this.#waiting.push({ ...looped, turn: this.#turn });
    this.#addedCount++;
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#work(); // Never rejects.
  }

  /**
   * Resolves when the log has everything added before; `undefined` when it has. Throws
   * `Unavailable` when the term ends first.
   */
  kept(): Promise<void> | undefined {
    return this.#keptCount < this.#addedCount ? this.#whenKept(this.#addedCount) : undefined;
  }

  async #whenKept(count: number): Promise<void> {
    const { signal } = this.#options;
    while (this.#keptCount < count) {
      if (signal.aborted) throw new Unavailable(messageOf(signal.reason));
      await this.#changed.promise;
    }
  }

  #change(): void {
    const changed = this.#changed;
    this.#changed = opening();
    changed.resolve();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    const { causesKnown, signal } = this.#options;
    await causesKnown();
    while (this.#waiting.length > 0 && !signal.aborted) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const looped of merged(waiting.filter((each) => this.#isNew(each)))) {
        await this.#leading();
        if (signal.aborted) break;
        await this.#append(looped);
      }
      // The next leader gets the causes again.
      if (signal.aborted) break;
      this.#keptCount += waiting.length;
      this.#change();
    }
    // In the same turn that has found nothing more.
    this.#isWorking = false;
    this.#change();
  }

  /**
   * A process that was suspended does not know yet that another one leads, but its lease has ended.
   * Resolves when this instance leads or the term is over. Never rejects.
   */
  async #leading(): Promise<void> {
    const { isLeading, clock, signal } = this.#options;
    // The signal ends the pause.
    while (!isLeading() && !signal.aborted)
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
  }

  /** Never rejects. */
  async #append(looped: Looped): Promise<void> {
    const { append, logger, signal } = this.#options;
    try {
      await append(looped);
    } catch (error) {
      if (signal.aborted) return;
      logger('error', 'failed to loop back points', { err: messageOf(error) });
    }
  }

  /** Called once for each, in order. */
  #isNew(added: Added): boolean {
    const { cause, turn } = added;
    if (cause === undefined) return true;
    const key = keyOf(cause, added);
    const last = this.#last.get(key);
    if (isBehind(cause, last)) this.#last.set(key, { ...cause, turn });
    else return last?.turn === turn && !isBehind(last, cause);
    return true;
  }
}

/** Joins neighbours of one unit and target, with the last cause. */
function merged(all: readonly Looped[]): readonly Looped[] {
  const result: Looped[] = [];
  for (const looped of all) {
    const before = result.at(-1);
    if (before === undefined || !canMerge(before, looped)) result.push(looped);
    else result.splice(-1, 1, { ...looped, points: [...before.points, ...looped.points] });
  }
  return result;
}

function canMerge(some: Looped, other: Looped): boolean {
  return (
    some.database === other.database &&
    some.retentionPolicy === other.retentionPolicy &&
    some.cause?.unit === other.cause?.unit &&
    some.points.length + other.points.length <= MERGED_MAX
  );
}

function isBehind({ record, row }: Position, last: Position | undefined): boolean {
  if (last === undefined) return true;
  return record === last.record ? row > last.row : record > last.record;
}

function keyOf(
  { unit }: EventCause,
  { database, retentionPolicy }: Pick<Looped, 'database' | 'retentionPolicy'>,
): string {
  return JSON.stringify([unit, database, retentionPolicy]);
}
