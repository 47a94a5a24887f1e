// Sets of a join: at most one message of each parent per group and time; a second message of a
// parent opens the next set of that time. So the k-th message of one parent pairs with the k-th of
// another.

type Part<M> = M | undefined;

/** Head of a parent whose group was deleted: it is not awaited until it sends again. */
export const GROUP_DELETED = 2n ** 64n;

/** Sets of one time, the oldest first. */
type SetsOfTime<M> = { readonly time: bigint; sets: Part<M>[][] };

type SetsCode = {
  readonly heads: readonly (bigint | undefined)[];
  readonly entries: readonly {
    readonly time: bigint;
    readonly sets: readonly (readonly unknown[])[];
  }[];
};

export class JoinSets<M> {
  readonly #emptySet: readonly Part<M>[];
  readonly #emit: (time: bigint, parts: readonly Part<M>[]) => void;
  /** Time of the latest message by parent. */
  readonly #heads: (bigint | undefined)[];
  /** In order of time. */
  #entries: SetsOfTime<M>[] = [];
  /** The only set that waits, as long as it is one of its time: mostly the next message ends it. */
  #only: Part<M>[] | undefined;
  #timeOfOnly = 0n;
  #missingCount = 0;

  constructor(parentCount: number, emit: (time: bigint, parts: readonly Part<M>[]) => void) {
    this.#emptySet = Array.from({ length: parentCount }, () => undefined);
    this.#emit = emit;
    this.#heads = Array.from({ length: parentCount }, () => undefined);
  }

  /**
   * The common case of the last message of a set: if it completes the only set, returns that set
   * and removes it, so that the message never waits. `undefined` when it has to be added.
   */
  completed(parent: number, time: bigint, message: M): Part<M>[] | undefined {
    const set = this.#only;
    if (set === undefined || this.#missingCount > 1 || !this.#isOfOnly(set, parent, time)) {
      return undefined;
    }
    set[parent] = message;
    this.#heads[parent] = time;
    this.#only = undefined;
    return set;
  }

  add(parent: number, time: bigint, message: M): void {
    if (this.#addToOnly(parent, time, message)) return;
    this.#listOnly();
    const set = this.#openSet(parent, time);
    set[parent] = message;
    this.#heads[parent] = time;
    this.#emitReady();
  }

  /** Whether the message waits in the only set. */
  #addToOnly(parent: number, time: bigint, message: M): boolean {
    let set = this.#only;
    if (set === undefined) {
      if (this.#entries.length > 0) return false;
      set = this.#emptySet.slice();
      this.#timeOfOnly = time;
      this.#missingCount = set.length;
    } else if (!this.#isOfOnly(set, parent, time)) return false;
    if (this.#missingCount === 1) return false;
    set[parent] = message;
    this.#missingCount--;
    this.#heads[parent] = time;
    this.#only = set;
    return true;
  }

  #isOfOnly(set: readonly Part<M>[], parent: number, time: bigint): boolean {
    return time === this.#timeOfOnly && set[parent] === undefined;
  }

  /** The only set becomes one of several. */
  #listOnly(): void {
    if (this.#only === undefined) return;
    this.#entries.push({ time: this.#timeOfOnly, sets: [this.#only] });
    this.#only = undefined;
  }

  /** The parent reports that nothing older than `time` follows. */
  advance(parent: number, time: bigint): void {
    this.#listOnly();
    const head = this.#heads[parent];
    if (head === undefined || head < time) this.#heads[parent] = time;
    this.#emitReady();
  }

  /**
   * The group of a parent was deleted: sets that wait for it continue without. Returns false when
   * no other parent is left.
   */
  forget(parent: number): boolean {
    this.advance(parent, GROUP_DELETED);
    return this.#heads.some((head) => head !== undefined && head !== GROUP_DELETED);
  }

  finish(): void {
    this.#listOnly();
    const entries = this.#entries;
    this.#entries = [];
    for (const { time, sets } of entries) for (const set of sets) this.#emit(time, set);
  }

  encode(code: (message: M) => unknown): SetsCode {
    this.#listOnly();
    return {
      heads: [...this.#heads],
      entries: this.#entries.map(({ time, sets }) => ({
        time,
        sets: sets.map((set) =>
          set.map((message) => (message === undefined ? undefined : code(message))),
        ),
      })),
    };
  }

  decode(sets: SetsCode, decode: (code: unknown) => M | undefined): void {
    sets.heads.forEach((head, i) => {
      this.#heads[i] = head;
    });
    this.#entries = sets.entries.map((entry) => ({
      time: entry.time,
      sets: entry.sets.map((set) =>
        set.map((code) => (code === undefined ? undefined : decode(code))),
      ),
    }));
  }

  /** The first set of a time that has no message of the parent. */
  #openSet(parent: number, time: bigint): Part<M>[] {
    const entries = this.#entries;
    let at = entries.length;
    // Messages arrive nearly in order: the search from the end is short.
    while (at > 0 && (entries[at - 1] as SetsOfTime<M>).time > time) at--;
    const known = entries[at - 1];
    if (known === undefined || known.time !== time) {
      const set = this.#emptySet.slice();
      const entry: SetsOfTime<M> = { time, sets: [set] };
      if (at === entries.length) entries.push(entry);
      else entries.splice(at, 0, entry);
      return set;
    }
    for (const set of known.sets) if (set[parent] === undefined) return set;
    const set = this.#emptySet.slice();
    known.sets.push(set);
    return set;
  }

  /** Emits complete sets of the oldest time, and others once every parent is past that time. */
  #emitReady(): void {
    for (;;) {
      const entry = this.#entries[0];
      if (entry === undefined) return;
      const isOpen = this.#isOpen(entry.time);
      const { sets } = entry;
      let count = 0;
      while (count < sets.length) {
        if (isOpen && (sets[count] as Part<M>[]).includes(undefined)) break;
        count++;
      }
      if (count === 0) return;
      if (count === sets.length) this.#entries.shift();
      else entry.sets = sets.slice(count);
      for (let i = 0; i < count; i++) this.#emit(entry.time, sets[i] as Part<M>[]);
      if (isOpen) return;
    }
  }

  /** Whether a parent may still send something for `time`. */
  #isOpen(time: bigint): boolean {
    for (const head of this.#heads) if (head === undefined || head <= time) return true;
    return false;
  }
}
