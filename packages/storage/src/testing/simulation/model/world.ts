// The contents of a store of points as plain data: cells with values. Operations are lists of
// effects; effects of concurrent operations may happen in any order. `Worlds` are all states that
// the store may be in after the observed results.

/** A value under database, policy, measurement, tags and time. */
export type Cell = {
  readonly policyId: number;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
  /** `t=a` */
  readonly tag: string;
  readonly time: number;
};

/** The name under which a cell is read: the policy's id is not part of it. */
export function nameOf({ database, retentionPolicy, measurement, tag, time }: Cell): string {
  return `${database}.${retentionPolicy} ${measurement},${tag} ${time}`;
}

/** A change that happens at one moment. */
export type Effect =
  | { readonly kind: 'set'; readonly cells: readonly Cell[]; readonly value: number }
  | { readonly kind: 'clear'; readonly where: (cell: Cell) => boolean }
  /** One of several contents, as in a backup, under other names. */
  | {
      readonly kind: 'one-of';
      readonly contents: readonly (readonly (readonly [Cell, number])[])[];
    };

/** Cells by number: worlds are arrays of their values. */
export class Cells {
  readonly all: Cell[] = [];
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(cell: Cell): number {
    const name = nameOf(cell);
    const key = `${cell.policyId} ${name}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.all.length;
      this.all.push(cell);
      this.names.push(name);
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/** An operation that has begun; its effects happen one after another. */
export type Pending = { readonly id: number; readonly effects: readonly Effect[] };

/**
 * Values by the number of the cell, 0 for none; and how many effects of each operation are done.
 */
type World = { readonly values: readonly number[]; readonly done: ReadonlyMap<number, number> };

/** More than any history leads to that is checked often. */
const WORLDS_MAX = 20_000;

/** So much happens at once that the model cannot judge it. */
export class TooManyWorlds extends Error {
  override readonly name = 'TooManyWorlds';
}

export class Worlds {
  readonly #cells: Cells;
  #worlds: readonly World[] = [{ values: [], done: new Map() }];
  #pending: readonly Pending[] = [];
  /** Refused because the log failed: hidden, but the log may still have them. */
  #uncertain: readonly Pending[] = [];
  /** Policies that are being dropped: their cells may be hidden before they are gone. */
  #dropping: ReadonlySet<number> = new Set();
  /** Policies whose drop is owed. Their cells exist until it is made, but are hidden. */
  #hidden: ReadonlySet<number> = new Set();

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  get count(): number {
    return this.#worlds.length;
  }

  begin(operation: Pending): void {
    this.#pending = [...this.#pending, operation];
  }

  /** The operation was acknowledged: all of its effects have taken place. */
  acknowledge(id: number): void {
    this.#uncertain = [];
    const { length } = this.#pendingOf(id).effects;
    this.#end(id, (done) => done === length);
  }

  /** The operation was refused; the parts before the one that was refused may be there. */
  refuse(id: number, options: { readonly hasParts: boolean; readonly isUncertain: boolean }): void {
    if (options.isUncertain) this.#uncertain = [...this.#uncertain, this.#pendingOf(id)];
    this.#end(id, (done) => done === 0 || options.hasParts);
  }

  beginDrop(policyId: number): void {
    this.#dropping = new Set([...this.#dropping, policyId]);
  }

  /** The policy could not be dropped, but is hidden. */
  hide(policyId: number): void {
    this.#hidden = new Set([...this.#hidden, policyId]);
  }

  /** The machine went off: running operations have happened or not. */
  forgetPending(): void {
    this.#hidden = new Set();
    this.#dropping = new Set();
    this.#pending = [...this.#pending, ...this.#uncertain];
    this.#uncertain = [];
    this.#worlds = distinct(this.#closure().map(({ values }) => ({ values, done: new Map() })));
    this.#pending = [];
  }

  /** Keeps the worlds in which a reader sees exactly this. Returns whether there are any. */
  observe(seen: ReadonlyMap<string, number>): boolean {
    const matching = this.#worlds.filter((world) => this.#matches(world, seen));
    if (this.#pending.length === 0 && matching.length > 0) {
      this.#worlds = matching;
      return true;
    }
    const all = this.#closure().filter((world) => this.#matches(world, seen));
    if (all.length === 0) return false;
    this.#worlds = all;
    return true;
  }

  /** Values that each cell may have, now or when running operations are done; 0 for none. */
  possibleValues(): ReadonlyMap<string, ReadonlySet<number>> {
    const possible = new Map<string, Set<number>>();
    for (const { values } of this.#closure()) {
      this.#cells.names.forEach((name, at) => {
        const value = values[at] ?? 0;
        const known = possible.get(name);
        if (known === undefined) possible.set(name, new Set([value]));
        else known.add(value);
      });
    }
    return possible;
  }

  /** Continues with what was seen: acknowledged changes may be lost, because syncs were delayed. */
  adopt(cells: readonly (readonly [Cell, number])[]): void {
    const values: number[] = [];
    for (const [cell, value] of cells) setValue(values, this.#cells.numberOf(cell), value);
    this.#worlds = [{ values, done: new Map() }];
    this.#pending = [];
    this.#uncertain = [];
    this.#hidden = new Set();
    this.#dropping = new Set();
  }

  /** The contents of one of the worlds, to explain a failure. */
  describe(): string {
    const [world] = this.#worlds;
    return world === undefined ? 'nothing' : describeValues(this.#cells, world.values);
  }

  #pendingOf(id: number): Pending {
    const found = this.#pending.find((one) => one.id === id);
    if (found === undefined) throw new Error(`operation ${id} is not running`);
    return found;
  }

  #end(id: number, isPossible: (done: number) => boolean): void {
    const worlds = this.#closure().filter(({ done }) => isPossible(done.get(id) ?? 0));
    this.#pending = this.#pending.filter((one) => one.id !== id);
    this.#worlds = distinct(
      worlds.map(({ values, done }) => {
        const rest = new Map(done);
        rest.delete(id);
        return { values, done: rest };
      }),
    );
  }

  /** All worlds that the effects of running operations may lead to. */
  #closure(): readonly World[] {
    if (this.#pending.length === 0) return this.#worlds;
    const known = new Map(this.#worlds.map((world) => [keyOf(world), world]));
    const open = [...known.values()];
    for (let world = open.pop(); world !== undefined; world = open.pop()) {
      for (const { id, effects } of this.#pending) {
        const at = world.done.get(id) ?? 0;
        const effect = effects[at];
        if (effect === undefined) continue;
        for (const values of this.#apply(world.values, effect)) {
          const next = { values, done: new Map(world.done).set(id, at + 1) };
          const key = keyOf(next);
          if (known.has(key)) continue;
          known.set(key, next);
          open.push(next);
        }
      }
      if (known.size > WORLDS_MAX) throw new TooManyWorlds();
    }
    return [...known.values()];
  }

  #apply(values: readonly number[], effect: Effect): readonly (readonly number[])[] {
    const cells = this.#cells;
    switch (effect.kind) {
      case 'set': {
        const next = values.slice();
        for (const cell of effect.cells) setValue(next, cells.numberOf(cell), effect.value);
        return [next];
      }
      case 'clear':
        return [values.map((value, at) => (effect.where(cells.all[at]!) ? 0 : value))];
      case 'one-of':
        return effect.contents.map((content) => {
          const next = values.slice();
          for (const [cell, value] of content) setValue(next, cells.numberOf(cell), value);
          return next;
        });
    }
  }

  #matches({ values }: World, seen: ReadonlyMap<string, number>): boolean {
    const { all } = this.#cells;
    const held = new Set(values.flatMap((value, at) => (value === 0 ? [] : all[at]!.policyId)));
    const dropping = [...this.#dropping].filter((id) => held.has(id) && !this.#hidden.has(id));
    const isSeenWithout = (hidden: ReadonlySet<number>, from: number): boolean =>
      from === dropping.length
        ? this.#matchesWithout(hidden, values, seen)
        : isSeenWithout(hidden, from + 1) ||
          isSeenWithout(new Set([...hidden, dropping[from]!]), from + 1);
    return isSeenWithout(this.#hidden, 0);
  }

  /** Two policies of one name, an old one and its successor, may both exist: either is seen. */
  #matchesWithout(
    hidden: ReadonlySet<number>,
    values: readonly number[],
    seen: ReadonlyMap<string, number>,
  ): boolean {
    const { all, names } = this.#cells;
    const found = new Map<string, boolean>();
    for (let at = 0; at < values.length; at++) {
      const value = values[at]!;
      if (value === 0 || hidden.has(all[at]!.policyId)) continue;
      const name = names[at]!;
      const isSeen = seen.get(name) === value;
      found.set(name, isSeen || found.get(name) === true);
    }
    if (found.size !== seen.size) return false;
    for (const isSeen of found.values()) if (!isSeen) return false;
    return true;
  }
}

export function describeValues(cells: Cells, values: readonly number[]): string {
  const held = values.flatMap((value, at) => (value === 0 ? [] : [`${cells.names[at]}=${value}`]));
  return held.sort().join('; ');
}

function setValue(values: number[], at: number, value: number): void {
  while (values.length < at) values.push(0);
  values[at] = value;
}

function keyOf({ values, done }: World): string {
  let end = values.length;
  while (end > 0 && values[end - 1] === 0) end--;
  const progress = [...done].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  return `${values.slice(0, end).join()}|${progress.join()}`;
}

function distinct(worlds: readonly World[]): readonly World[] {
  return [...new Map(worlds.map((world) => [keyOf(world), world])).values()];
}
