// Appends points of loopback nodes to the log of points, each once. A unit that continues from an
// older state writes the same points again; they are recognised by their position: that of their
// cause, the row of the log that the unit was processing, and their number among its points. Points
// that no row has caused (timers, queries) have no position.
//
// Each append names the looped record that it follows, so that it is refused when another instance,
// which leads now or did before, has appended some that this one does not know. It then learns what
// the log has.
import { Superseded } from '@tidemark/cluster';
import { deferred, messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { EventCause, PointInput } from '@tidemark/runtime';
import type { Logger } from '../observability/log-hub.ts';

/** Points that one row caused, or some without a cause. */
export type Looped = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly points: readonly PointInput[];
  readonly cause: EventCause | undefined;
};

/** Points of one unit and target that are not in the log. */
export type LoopedRecord = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly points: readonly LoopedPoint[];
};

export type LoopedPoint = {
  readonly point: PointInput;
  readonly cause: EventCause | undefined;
  /** How many points of its cause there are up to this one. */
  readonly count: number;
};

/** A position in the log up to which the points of a unit and target are in it. */
export type LoopedTo = {
  readonly cause: EventCause;
  /** How many points of the cause are in the log. */
  readonly count: number;
};

export type LoopedPointsOptions = {
  /**
   * Appends points to the log. Returns the number of their record, or throws `Superseded` when the
   * last looped record is not `after`; some of the points may be in the log then.
   */
  readonly append: (record: LoopedRecord, after: number) => Promise<number>;
  /**
   * Appends a looped record without points, and learns all looped ones before it. Returns its
   * number, or `undefined` when the term ends. Never rejects.
   */
  readonly learn: () => Promise<number | undefined>;
  /** Whether this instance leads: otherwise another one may append the same points. */
  readonly isLeading: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted with the term. */
  readonly signal: AbortSignal;
};

type Position = Pick<EventCause, 'record' | 'row'> & { readonly count: number };

/** `before`: how many points of its cause came before it. */
type Added = Looped & { readonly before: number };

/**
 * Interval at which an instance whose lease has ended checks whether it was renewed or the term is
 * over.
 */
const LOOK_MS = 20;

/** Points that one record may hold. */
const MERGED_MAX = 2000;

export class LoopedPoints {
  readonly #options: LoopedPointsOptions;
  /** By unit and target, the position up to which the log has its points. */
  readonly #logged = new Map<string, Position>();
  /** By unit and target, the position of the last point that was added, and its turn. */
  readonly #added = new Map<string, Position & { readonly turn: number }>();
  /** All points that one row causes are added in one turn. */
  #turn = 1;
  #isTurnOpen = false;
  /** Number of the last looped record; `undefined` while unknown. */
  #last: number | undefined;
  #waiting: Added[] = [];
  #addedCount = 0;
  #keptCount = 0;
  /** Resolved when some are stored, or no more will be. */
  #changed = deferred();
  #isWorking = false;

  constructor(options: LoopedPointsOptions) {
    this.#options = options;
  }

  /** What the log has. */
  learn({ cause, count }: LoopedTo, target: Pick<Looped, 'database' | 'retentionPolicy'>): void {
    const key = keyOf(cause, target);
    const position = { ...cause, count };
    if (isBehind(position, this.#logged.get(key))) this.#logged.set(key, position);
  }

  /** Adds points; those that are in the log already are left out. */
  add(looped: Looped): void {
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      this.#turn++;
      queueMicrotask(() => (this.#isTurnOpen = false));
    }
    this.#waiting.push({ ...looped, before: this.#count(looped) });
    this.#addedCount++;
    if (this.#isWorking) return;
    this.#isWorking = true;
    // With all that is added in this turn; never rejects.
    queueMicrotask(() => void this.#work());
  }

  /** How many points of the same cause were added before; adds those of `looped`. */
  #count(looped: Looped): number {
    const { cause, points } = looped;
    if (cause === undefined) return 0;
    const key = keyOf(cause, looped);
    const last = this.#added.get(key);
    const isSame =
      last?.turn === this.#turn && last.record === cause.record && last.row === cause.row;
    const before = isSame ? last.count : 0;
    this.#added.set(key, { ...cause, turn: this.#turn, count: before + points.length });
    return before;
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
    this.#changed = deferred();
    changed.resolve();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    const { signal } = this.#options;
    while (this.#waiting.length > 0 && !signal.aborted) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const alike of grouped(waiting)) {
        await this.#keep(alike);
        // The next leader gets the causes again.
        if (signal.aborted) break;
        this.#keptCount += alike.length;
        this.#change();
      }
    }
    // In the same turn that has found nothing more.
    this.#isWorking = false;
    this.#change();
  }

  /** Appends points of one unit and target, or those that the log lacks. Never rejects. */
  async #keep(alike: readonly Added[]): Promise<void> {
    const { append, learn, logger, signal } = this.#options;
    for (;;) {
      await this.#leading();
      if (signal.aborted) return;
      if (this.#last === undefined) {
        this.#last = await learn();
        continue;
      }
      const record = this.#missing(alike);
      if (record === undefined) return;
      try {
        this.#last = await append(record, this.#last);
        for (const { cause, count } of record.points)
          if (cause !== undefined) this.learn({ cause, count }, record);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Superseded) this.#last = undefined;
        else return logger('error', 'failed to loop back points', { err: messageOf(error) });
      }
    }
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

  /** The points that the log does not have; `undefined` if it has all. */
  #missing(alike: readonly Added[]): LoopedRecord | undefined {
    const [target] = alike;
    if (target === undefined) return undefined;
    const { database, retentionPolicy, cause: first } = target;
    let logged = first && this.#logged.get(keyOf(first, target));
    const points: LoopedPoint[] = [];
    for (const { points: own, cause, before } of alike) {
      for (const [i, point] of own.entries()) {
        const count = before + i + 1;
        if (cause !== undefined) {
          const position = { ...cause, count };
          if (!isBehind(position, logged)) continue;
          logged = position;
        }
        points.push({ point, cause, count });
      }
    }
    return points.length === 0 ? undefined : { database, retentionPolicy, points };
  }
}

/** Neighbours of one unit and target, as many as one record may hold. */
function grouped(all: readonly Added[]): readonly (readonly Added[])[] {
  const groups: Added[][] = [];
  let count = 0;
  for (const added of all) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    count += added.points.length;
    if (
      group !== undefined &&
      before !== undefined &&
      isAlike(before, added) &&
      count <= MERGED_MAX
    )
      group.push(added);
    else {
      groups.push([added]);
      count = added.points.length;
    }
  }
  return groups;
}

function isAlike(some: Looped, other: Looped): boolean {
  return (
    some.database === other.database &&
    some.retentionPolicy === other.retentionPolicy &&
    some.cause?.unit === other.cause?.unit
  );
}

function isBehind({ record, row, count }: Position, last: Position | undefined): boolean {
  if (last === undefined) return true;
  if (record !== last.record) return record > last.record;
  return row === last.row ? count > last.count : row > last.row;
}

function keyOf(
  { unit }: EventCause,
  { database, retentionPolicy }: Pick<Looped, 'database' | 'retentionPolicy'>,
): string {
  return JSON.stringify([unit, database, retentionPolicy]);
}
