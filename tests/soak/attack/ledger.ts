// The clients' knowledge: for each cell the changes that were sent, when, and their responses. A
// read value must come from a change that may be the last one: no acknowledged change begins after
// its end and ends before the read begins.
import { CELLS, nameOf } from './cells.ts';
import type { Cell } from './cells.ts';

/** 0 stands for no value. */
type Change = {
  readonly what: string;
  readonly begin: number;
  /** From then on it does not take place any more. */
  end: number;
  readonly values: ReadonlySet<number>;
  /** It was acknowledged; otherwise it has taken place or not. */
  isDefinite: boolean;
};

/** A change that was sent. */
export type Sent = {
  /** It has taken place. */
  acknowledged(): void;
  /** It has not taken place, and will not. */
  refused(): void;
  /** It has taken place, or not at all. */
  unknown(): void;
  /** It may take place at any time, until the result is called. */
  lingers(): () => void;
};

/** Several values of one cell; 0 stands for none. */
export type Possible = ReadonlyMap<string, ReadonlySet<number>>;

const NOTHING: ReadonlySet<number> = new Set([0]);
/** Changes of a cell that are kept before those that cannot be the last are left out. */
const KEPT_MAX = 24;

export class Ledger {
  readonly #changes = new Map<string, Change[]>();
  #now = 1;
  readonly #reads = new Set<number>();

  constructor() {
    for (const cell of CELLS) {
      const first = { what: 'empty', begin: 0, end: 0, values: NOTHING, isDefinite: true };
      this.#changes.set(nameOf(cell), [first]);
    }
  }

  /** Cells get a value. */
  set(what: string, cells: readonly Cell[], value: number): Sent {
    const values = new Set([value]);
    return this.#send(
      what,
      cells.map((cell) => [nameOf(cell), values] as const),
    );
  }

  /** Cells lose their values. */
  clear(what: string, where: (cell: Cell) => boolean): Sent {
    const cells = CELLS.filter(where);
    return this.#send(
      what,
      cells.map((cell) => [nameOf(cell), NOTHING] as const),
    );
  }

  /** Cells get one of several values each. */
  oneOf(what: string, possible: Possible): Sent {
    return this.#send(what, [...possible]);
  }

  #send(what: string, cells: readonly (readonly [string, ReadonlySet<number>])[]): Sent {
    const begin = this.#now++;
    const changes = cells.map(([name, values]) => {
      const change = { what, begin, end: Number.POSITIVE_INFINITY, values, isDefinite: false };
      this.#of(name).push(change);
      return [name, change] as const;
    });
    const end = (isDefinite: boolean): void => {
      const now = this.#now++;
      for (const [, change] of changes) Object.assign(change, { end: now, isDefinite });
    };
    return {
      acknowledged: () => end(true),
      unknown: () => end(false),
      lingers: () => () => end(false),
      refused: () => {
        for (const [name, change] of changes)
          this.#of(name).splice(this.#of(name).indexOf(change), 1);
      },
    };
  }

  /** Begins a reading; what was acknowledged before is there. */
  beginRead(): number {
    const from = this.#now++;
    this.#reads.add(from);
    return from;
  }

  endRead(from: number): void {
    this.#reads.delete(from);
  }

  /** The error in a value read from a cell since `from`; `undefined` without one. */
  problem(cell: Cell, value: number, from: number): string | undefined {
    const name = nameOf(cell);
    const changes = this.#of(name);
    if (changes.length > KEPT_MAX) this.#forget(name);
    if (this.#possible(name, from).some(({ values }) => values.has(value))) return undefined;
    const known = changes.map(({ what, begin, end, values, isDefinite }) => {
      return `  ${begin} to ${end}: ${what} -> ${[...values].join(' or ')}${isDefinite ? '' : ' (or not)'}`;
    });
    const is = value === 0 ? 'nothing' : String(value);
    return `${name} is ${is}, read from ${from} to ${this.#now}; known:\n${known.join('\n')}`;
  }

  /** All values that cells may have had since `from`, under other names. */
  possible(cells: readonly Cell[], from: number, rename: (cell: Cell) => Cell): Possible {
    return new Map(
      cells.map((cell) => {
        const changes = this.#possible(nameOf(cell), from);
        return [nameOf(rename(cell)), new Set(changes.flatMap(({ values }) => [...values]))];
      }),
    );
  }

  /** A value read while nothing else ran is the current one, except for changes that linger. */
  settle(cell: Cell, value: number): void {
    const name = nameOf(cell);
    const now = this.#now++;
    const lingering = this.#of(name).filter(({ end }) => end === Number.POSITIVE_INFINITY);
    const found = {
      what: 'found',
      begin: now,
      end: now,
      values: new Set([value]),
      isDefinite: true,
    };
    this.#changes.set(name, [found, ...lingering]);
  }

  #of(name: string): Change[] {
    return this.#changes.get(name)!;
  }

  /** Changes that a reading since `from` may find to be the last one. */
  #possible(name: string, from: number): readonly Change[] {
    const changes = this.#of(name);
    // The latest beginning of one that had surely taken place before.
    let sure = 0;
    for (const { begin, end, isDefinite } of changes) {
      if (isDefinite && end < from) sure = Math.max(sure, begin);
    }
    return changes.filter(({ end }) => end >= sure);
  }

  #forget(name: string): void {
    const oldest = Math.min(this.#now, ...this.#reads);
    this.#changes.set(name, [...this.#possible(name, oldest)]);
  }
}
