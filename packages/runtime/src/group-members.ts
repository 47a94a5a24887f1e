// The groups for which a node has state, for nodes with state in columns by the group's dense
// index: one array for a value of all groups instead of an object per group, because the garbage
// collector would copy and mark 50,000 objects.
import type { Group, GroupTable } from './data/group.ts';

const FIRST_CAPACITY = 64;

export class GroupMembers {
  readonly #groups: GroupTable;
  readonly #grow: (capacity: number) => void;
  #isMember = new Uint8Array(0);
  #count = 0;

  /**
   * `grow` is called before a group whose index does not fit: columns then need at least `capacity`
   * positions.
   */
  constructor(groups: GroupTable, grow: (capacity: number) => void) {
    this.#groups = groups;
    this.#grow = grow;
  }

  get count(): number {
    return this.#count;
  }

  has(group: Group): boolean {
    return this.#isMember[group.index] === 1;
  }

  /**
   * Returns false when the group was there before; otherwise its positions in the columns have
   * unspecified values.
   */
  add(group: Group): boolean {
    const { index } = group;
    if (this.#isMember[index] === 1) return false;
    if (index >= this.#isMember.length) this.#reserve(index + 1);
    this.#isMember[index] = 1;
    this.#count++;
    group.holderCount++;
    return true;
  }

  /** Returns false when the group was not there. */
  delete(group: Group): boolean {
    if (this.#isMember[group.index] !== 1) return false;
    this.#isMember[group.index] = 0;
    this.#count--;
    group.holderCount--;
    return true;
  }

  *[Symbol.iterator](): IterableIterator<Group> {
    for (let index = 0; index < this.#isMember.length; index++) {
      if (this.#isMember[index] === 1) yield this.#groups.at(index);
    }
  }

  #reserve(count: number): void {
    let capacity = Math.max(FIRST_CAPACITY, this.#isMember.length * 2);
    while (capacity < count) capacity *= 2;
    const larger = new Uint8Array(capacity);
    larger.set(this.#isMember);
    this.#isMember = larger;
    this.#grow(capacity);
  }
}
