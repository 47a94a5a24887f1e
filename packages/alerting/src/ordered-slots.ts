// Slots in the order of their ids, kept sorted on insertion, so that lists need no sorting: sorting
// 100,000 new ids in random order would take 0.1 s. Blocks of some hundred slots; an insertion
// searches the blocks, then one block, and moves half a block at most. Invariant: ids increase
// strictly within and across blocks; a block is empty only if it is the only one.

/** Moving half of it costs about as much as the search. */
const BLOCK_LENGTH_MAX = 512;

export class OrderedSlots {
  readonly #idOf: (slot: number) => string;
  readonly #blocks: number[][] = [[]];

  constructor(idOf: (slot: number) => string) {
    this.#idOf = idOf;
  }

  /** All slots in order, block by block. Valid until the next `add`. */
  get blocks(): readonly (readonly number[])[] {
    return this.#blocks;
  }

  /** Adds a slot whose id is not there yet. */
  add(slot: number): void {
    const id = this.#idOf(slot);
    const index = Math.max(0, this.#blocksThrough(id) - 1);
    const block = this.#blocks[index] ?? [];
    const position = countBelow(block, (other) => this.#idOf(other) < id);
    if (block.length < BLOCK_LENGTH_MAX) {
      block.splice(position, 0, slot);
    } else if (position === block.length && index === this.#blocks.length - 1) {
      // Ids that come in order, as from disk, fill their blocks.
      this.#blocks.push([slot]);
    } else {
      const upper = block.splice(BLOCK_LENGTH_MAX / 2);
      this.#blocks.splice(index + 1, 0, upper);
      if (position <= block.length) block.splice(position, 0, slot);
      else upper.splice(position - block.length, 0, slot);
    }
  }

  /** Number of blocks that begin at or before an id. */
  #blocksThrough(id: string): number {
    return countBelow(this.#blocks, ([first]) => first === undefined || this.#idOf(first) <= id);
  }
}

/** Number of leading items of a list that fulfil a condition. */
function countBelow<T>(items: readonly T[], isBelow: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
