// A number for each group, in one array.
import type { Group } from '../data/group.ts';
import { decodeGroup, encodeGroup } from '../data/codec.ts';
import { GroupMembers } from '../group-members.ts';
import type { GroupStatesCode, GroupStore } from '../group-states.ts';
import type { Frame } from '../lambda/typed.ts';
import type { TaskContext } from '../node.ts';

export type Counted = { readonly frame: Frame; count: number };

/** Counts of groups whose lambda has no state, so that one frame serves all. Counts begin at 0. */
export class CountStates implements GroupStore<Counted> {
  readonly #members: GroupMembers;
  readonly #cursor: Cursor;

  constructor(task: TaskContext, frame: Frame) {
    this.#cursor = new Cursor(frame);
    this.#members = new GroupMembers(task.groups, (capacity) => this.#cursor.grow(capacity));
  }

  get count(): number {
    return this.#members.count;
  }

  /** The same object for every group, valid until the next call. */
  get(group: Group): Counted {
    const isNew = this.#members.add(group);
    this.#cursor.index = group.index;
    if (isNew) this.#cursor.count = 0;
    return this.#cursor;
  }

  delete(group: Group): void {
    this.#members.delete(group);
  }

  encode<C>(code: (state: Counted) => C): GroupStatesCode<C> {
    return Array.from(this.#members, (group) => [encodeGroup(group), code(this.get(group))]);
  }

  decode<C>(task: TaskContext, codes: GroupStatesCode<C>, decode: (code: C) => Counted): void {
    for (const [groupCode, code] of codes) {
      const group = decodeGroup(task, groupCode);
      if (group !== undefined) this.get(group).count = decode(code).count;
    }
  }
}

class Cursor implements Counted {
  readonly frame: Frame;
  index = 0;
  #counts = new Float64Array(0);

  constructor(frame: Frame) {
    this.frame = frame;
  }

  get count(): number {
    return this.#counts[this.index] as number;
  }

  set count(count: number) {
    this.#counts[this.index] = count;
  }

  grow(capacity: number): void {
    const larger = new Float64Array(capacity);
    larger.set(this.#counts);
    this.#counts = larger;
  }
}
