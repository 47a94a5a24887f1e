// The latest message of each group, as httpOut keeps it. Points of numbered writes are kept in
// columns, because the garbage collector would copy and mark one object for each of 50,000 groups.
import { assert } from '@tidemark/core';
import type { Origin } from '../data/point.ts';
import { Batch, Point } from '../data/point.ts';
import type { Group, GroupTable } from '../data/group.ts';
import type { Rows, Schema, Value, ValueType } from '../data/schema.ts';
import { gatherRows } from '../data/gather-rows.ts';
import { SchemaCache } from '../data/schema.ts';
import type { Series } from '../data/series.ts';
import { GroupMembers } from '../group-members.ts';

/** Rows of writes that stay in memory for their latest messages: about 16 MB at ten fields. */
const KEPT_ROWS_MAX = 200_000;
const KEPT_WRITES_MAX = 256;

/** In place of a write's sequence. Those of packed writes are smaller. */
const NO_WRITE = -1;

/** Fewer rows of a block take less memory as points with values of their own. */
const PACKED_ROWS_MIN = 16;
/** Number of replaced packed rows below which the others are not packed again. */
const PACKED_ROWS_SLACK = 1000;

/** Maximum number of own values of points in columns; others are kept as objects. */
const CELLS_MAX = 8;

/** The write, timer or answer of the present messages. */
type PresentWrite = { readonly writeSequence: number; readonly writeRowCount: number };

/** A write with some of the latest messages, or only its rows that are. */
class KeptWrite {
  readonly sequence: number;
  readonly rowCount: number;
  /** Indexes of groups that got a message with it; some have got another since. */
  readonly touched: number[] = [];
  readonly #blocks: Rows[] = [];
  readonly #origins: Origin[] = [];
  readonly #numbers = new Map<Rows, number>();

  constructor(write: PresentWrite) {
    this.sequence = write.writeSequence;
    this.rowCount = write.writeRowCount;
  }

  /** Number of the block that has a point's values. */
  numberOf({ rows, origin }: Point): number {
    const last = this.#blocks.length - 1;
    if (last >= 0 && this.#blocks[last] === rows && this.#origins[last] === origin) return last;
    let number = this.#numbers.get(rows);
    if (number === undefined || this.#origins[number] !== origin) {
      number = this.#blocks.push(rows) - 1;
      this.#origins.push(origin);
      this.#numbers.set(rows, number);
    }
    return number;
  }

  /** Replaces a block of another write. */
  addBlock(rows: Rows, origin: Origin): number {
    this.#origins.push(origin);
    return this.#blocks.push(rows) - 1;
  }

  rows(number: number): Rows {
    return this.#blocks[number] as Rows;
  }

  origin(number: number): Origin {
    return this.#origins[number] as Origin;
  }
}

type Cell = { readonly index: number; readonly type: ValueType };

export class LatestMessages {
  readonly #members: GroupMembers;
  readonly #layouts = new SchemaCache(cellsOf);
  #stride = 1;
  /**
   * By group. Series and schemas of the same group rarely change, and unchanged ones cost the
   * collector nothing.
   */
  readonly #series: (Series | undefined)[] = [];
  readonly #schemas: (Schema | undefined)[] = [];
  /** Batches, and points that are not in the columns. */
  readonly #objects: (Point | Batch | undefined)[] = [];
  #orders = new Float64Array(0);
  #sequences = new Float64Array(0);
  #times = new BigInt64Array(0);
  /** The block of the write, and the row in it. */
  #blocks = new Uint32Array(0);
  #rows = new Uint32Array(0);
  /** Values of their own, two views of one buffer. */
  #numbers = new Float64Array(0);
  #integers = new BigInt64Array(0);
  #order = 0;
  /** By their sequence, the oldest first. */
  readonly #writes = new Map<number, KeptWrite>();
  #newest: KeptWrite | undefined;
  #keptRows = 0;
  /**
   * The remains of older writes: rows that were the latest ones when it was packed. By their
   * sequence.
   */
  readonly #packed = new Map<number, KeptWrite>();
  #packedRows = 0;
  #lastPacked = NO_WRITE;
  readonly #groups: GroupTable;

  constructor(groups: GroupTable) {
    this.#groups = groups;
    this.#members = new GroupMembers(groups, (capacity) => this.#grow(capacity));
  }

  get count(): number {
    return this.#members.count;
  }

  /** No message came yet. */
  get isUntouched(): boolean {
    return this.#order === 0;
  }

  set(group: Group, message: Point | Batch, write: PresentWrite): void {
    const { index } = group;
    if (this.#members.add(group)) this.#begin(index, this.#order++);
    const kept = this.#keep(index, write);
    const layout = message instanceof Batch ? undefined : this.#layouts.get(message.schema);
    if (layout === undefined) this.#setObject(index, message);
    else this.#setPoint(index, message as Point, { layout, kept });
  }

  delete(group: Group): void {
    if (!this.#members.delete(group)) return;
    this.#sequences[group.index] = NO_WRITE;
    this.#series[group.index] = undefined;
    this.#schemas[group.index] = undefined;
    this.#objects[group.index] = undefined;
  }

  /** Messages in order of the creation of their groups. */
  messages(): (Point | Batch)[] {
    return this.entries()
      .sort((a, b) => a.order - b.order)
      .map(({ message }) => message);
  }

  entries(): { readonly group: Group; readonly order: number; readonly message: Point | Batch }[] {
    return Array.from(this.#members, (group) => ({
      group,
      order: this.#orders[group.index] as number,
      message: this.#message(group),
    }));
  }

  restore(group: Group, order: number, message: Point | Batch): void {
    this.#members.add(group);
    this.#begin(group.index, order);
    this.#order = Math.max(this.#order, order + 1);
    this.#objects[group.index] = message;
  }

  #begin(index: number, order: number): void {
    while (this.#objects.length <= index) {
      this.#objects.push(undefined);
      this.#series.push(undefined);
      this.#schemas.push(undefined);
    }
    this.#orders[index] = order;
    this.#sequences[index] = NO_WRITE;
  }

  #setObject(index: number, message: Point | Batch): void {
    const last = this.#objects[index];
    if (message instanceof Batch) {
      message.keep();
      this.#objects[index] = message;
    } else if (last === undefined || last instanceof Batch) {
      this.#objects[index] = message.clone();
    } else last.become(message);
  }

  #setPoint(
    index: number,
    point: Point,
    place: { readonly layout: readonly Cell[]; readonly kept: KeptWrite },
  ): void {
    const { layout, kept } = place;
    if (this.#objects[index] !== undefined) this.#objects[index] = undefined;
    if (this.#series[index] !== point.series) this.#series[index] = point.series;
    if (this.#schemas[index] !== point.schema) this.#schemas[index] = point.schema;
    this.#times[index] = point.time;
    this.#blocks[index] = kept.numberOf(point);
    this.#rows[index] = point.row;
    if (layout.length > 0) this.#setCells(index, point, layout);
  }

  #setCells(index: number, point: Point, layout: readonly Cell[]): void {
    if (point.schema.ownLength > this.#stride) this.#widen(point.schema.ownLength);
    const first = index * this.#stride;
    for (let i = 0; i < layout.length; i++) {
      const cell = (layout[i] as Cell).index;
      const value = point.own[cell];
      if (typeof value === 'bigint') this.#integers[first + cell] = value;
      else this.#numbers[first + cell] = Number(value);
    }
  }

  #message(group: Group): Point | Batch {
    const { index } = group;
    const object = this.#objects[index];
    if (object !== undefined) return object;
    const schema = this.#schemas[index] as Schema;
    const own: Value[] = Array.from({ length: schema.ownLength }, () => null);
    for (const { index: cell, type } of this.#layouts.get(schema) ?? []) {
      own[cell] = this.#value(index * this.#stride + cell, type);
    }
    const sequence = this.#sequences[index] as number;
    const write = this.#writes.get(sequence) ?? this.#packed.get(sequence);
    assert(write !== undefined, 'the write of a point in the columns is kept');
    const block = this.#blocks[index] as number;
    return new Point(
      this.#times[index] as bigint,
      this.#series[index] as Series,
      group,
      schema,
      write.rows(block),
      this.#rows[index] as number,
      own,
      write.origin(block),
    );
  }

  #value(cell: number, type: ValueType): Value {
    if (type === 'float') return this.#numbers[cell] as number;
    if (type === 'boolean') return this.#numbers[cell] === 1;
    return this.#integers[cell] as bigint;
  }

  /**
   * Messages refer to the columns of their write. Most are replaced before that matters; when there
   * are too many writes, the rows of the oldest that are still the latest are kept.
   */
  #keep(index: number, present: PresentWrite): KeptWrite {
    let write = this.#newest;
    if (write?.sequence !== present.writeSequence) {
      // A write comes in slices, with timers between them.
      this.#newest = write = this.#writes.get(present.writeSequence) ?? this.#begun(present);
      this.#letGo();
    }
    if (this.#sequences[index] !== write.sequence) {
      this.#sequences[index] = write.sequence;
      write.touched.push(index);
    }
    return write;
  }

  #begun(present: PresentWrite): KeptWrite {
    const write = new KeptWrite(present);
    this.#writes.set(write.sequence, write);
    this.#keptRows += write.rowCount;
    return write;
  }

  #letGo(): void {
    for (const [sequence, write] of this.#writes) {
      if (this.#keptRows <= KEPT_ROWS_MAX && this.#writes.size <= KEPT_WRITES_MAX) return;
      if (write === this.#newest) return;
      this.#pack(write);
      this.#keptRows -= write.rowCount;
      this.#writes.delete(sequence);
      this.#repack();
    }
  }

  /** Copies the remaining rows of a write, so that the rest can be released. */
  #pack(write: KeptWrite): void {
    const blocks = new Map<number, number[]>();
    for (const index of write.touched) {
      if (this.#sequences[index] !== write.sequence) continue;
      if (this.#objects[index] !== undefined) {
        this.#detach(index);
        continue;
      }
      const block = this.#blocks[index] as number;
      const indexes = blocks.get(block);
      if (indexes === undefined) blocks.set(block, [index]);
      else indexes.push(index);
    }
    const packed = new KeptWrite({ writeSequence: this.#lastPacked - 1, writeRowCount: 0 });
    for (const [block, indexes] of blocks) {
      if (indexes.length < PACKED_ROWS_MIN) for (const index of indexes) this.#detach(index);
      else this.#packBlock(write, block, { indexes, packed });
    }
    if (packed.touched.length === 0) return;
    this.#lastPacked = packed.sequence;
    this.#packed.set(packed.sequence, packed);
    this.#packedRows += packed.touched.length;
  }

  #packBlock(
    write: KeptWrite,
    block: number,
    into: { readonly indexes: readonly number[]; readonly packed: KeptWrite },
  ): void {
    const { indexes, packed } = into;
    const picked = Uint32Array.from(indexes, (index) => this.#rows[index] as number);
    const number = packed.addBlock(gatherRows(write.rows(block), picked), write.origin(block));
    for (const [row, index] of indexes.entries()) {
      this.#sequences[index] = packed.sequence;
      this.#blocks[index] = number;
      this.#rows[index] = row;
      packed.touched.push(index);
    }
  }

  /**
   * When most packed rows have been replaced, the rest is packed again: O(1) for each replaced row.
   */
  #repack(): void {
    if (this.#packedRows <= 2 * this.count + PACKED_ROWS_SLACK) return;
    this.#packedRows = 0;
    // A copy, because packing adds to the same map.
    for (const write of Array.from(this.#packed.values())) {
      this.#pack(write);
      this.#packed.delete(write.sequence);
    }
  }

  /** Gives the message values of its own, so that it does not keep its write in memory. */
  #detach(index: number): void {
    const message = this.#message(this.#groups.at(index));
    if (message instanceof Batch) for (const point of message.points) point.detach();
    else message.detach();
    this.#objects[index] = message;
    this.#sequences[index] = NO_WRITE;
  }

  #grow(capacity: number): void {
    this.#orders = larger(this.#orders, new Float64Array(capacity));
    this.#sequences = larger(this.#sequences, new Float64Array(capacity).fill(NO_WRITE));
    this.#times = larger(this.#times, new BigInt64Array(capacity));
    this.#blocks = larger(this.#blocks, new Uint32Array(capacity));
    this.#rows = larger(this.#rows, new Uint32Array(capacity));
    this.#numbers = larger(this.#numbers, new Float64Array(capacity * this.#stride));
    this.#integers = new BigInt64Array(this.#numbers.buffer);
  }

  /** Makes room for more own values in every point. */
  #widen(stride: number): void {
    const capacity = this.#orders.length;
    const integers = new BigInt64Array(capacity * stride);
    for (let index = 0; index < capacity; index++) {
      const from = index * this.#stride;
      integers.set(this.#integers.subarray(from, from + this.#stride), index * stride);
    }
    this.#integers = integers;
    this.#numbers = new Float64Array(integers.buffer);
    this.#stride = stride;
  }
}

function larger<A extends { set(values: A): void }>(old: A, room: A): A {
  room.set(old);
  return room;
}

/** The own values of a schema's points; `undefined` unless all of them are numbers. */
function cellsOf(schema: Schema): readonly Cell[] | undefined {
  if (schema.ownLength > CELLS_MAX) return undefined;
  const cells: Cell[] = [];
  for (const { slot, type } of schema.fields) {
    if (slot.kind === 'column') continue;
    if (slot.kind === 'part' || !CELL_TYPES.has(type)) return undefined;
    cells.push({ index: slot.index, type });
  }
  return cells;
}

const CELL_TYPES: ReadonlySet<ValueType> = new Set(['float', 'int', 'duration', 'time', 'boolean']);
