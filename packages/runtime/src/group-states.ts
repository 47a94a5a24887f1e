// Per-group state of a node: an array by the group's dense index.
import type { Group } from './data/group.ts';
import type { GroupCode } from './data/codec.ts';
import { decodeGroup, encodeGroup } from './data/codec.ts';
import type { TaskContext } from './node.ts';

/** The store of a node's states by group. */
export interface GroupStore<T> {
  /** Number of groups with a state. */
  readonly count: number;
  /** The state of a group, created if it has none. */
  get(group: Group): T;
  delete(group: Group): unknown;
  /** States as data, and back. */
  encode<C>(code: (state: T) => C): GroupStatesCode<C>;
  decode<C>(task: TaskContext, codes: GroupStatesCode<C>, decode: (code: C) => T): void;
}

export class GroupStates<T> implements GroupStore<T> {
  readonly #states: (T | undefined)[] = [];
  readonly #groups: (Group | undefined)[] = [];
  readonly #make: (group: Group) => T;
  #count = 0;

  constructor(make: (group: Group) => T) {
    this.#make = make;
  }

  get count(): number {
    return this.#count;
  }

  get(group: Group): T {
    const state = this.#states[group.index];
    return state === undefined ? this.set(group, this.#make(group)) : state;
  }

  peek(group: Group): T | undefined {
    return this.#states[group.index];
  }

  set(group: Group, state: T): T {
    const index = group.index;
    // Without holes: engines read packed arrays faster, and a far index would turn the array into a
    // table.
    while (this.#states.length <= index) {
      this.#states.push(undefined);
      this.#groups.push(undefined);
    }
    if (this.#groups[index] === undefined) {
      this.#count++;
      group.holderCount++;
    }
    this.#states[index] = state;
    this.#groups[index] = group;
    return state;
  }

  /** Removes a group; returns its state. */
  delete(group: Group): T | undefined {
    const state = this.#states[group.index];
    if (this.#groups[group.index] === undefined) return undefined;
    this.#states[group.index] = undefined;
    this.#groups[group.index] = undefined;
    this.#count--;
    group.holderCount--;
    return state;
  }

  *[Symbol.iterator](): IterableIterator<readonly [Group, T]> {
    for (let i = 0; i < this.#groups.length; i++) {
      const group = this.#groups[i];
      if (group !== undefined) yield [group, this.#states[i] as T];
    }
  }

  /** State as data. */
  encode<C>(code: (state: T, group: Group) => C): GroupStatesCode<C> {
    return Array.from(this, ([group, state]) => [encodeGroup(group), code(state, group)] as const);
  }

  decode<C>(
    task: TaskContext,
    codes: GroupStatesCode<C>,
    decode: (code: C, group: Group) => T,
  ): void {
    for (const [groupCode, code] of codes) {
      const group = decodeGroup(task, groupCode);
      if (group !== undefined) this.set(group, decode(code, group));
    }
  }
}

export type GroupStatesCode<C> = readonly (readonly [GroupCode, C])[];
