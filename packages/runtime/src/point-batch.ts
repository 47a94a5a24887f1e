// The points of one write as plain columns: created once by the write path, shared by all tasks,
// sent to task hosts as they are (structured clone or transfer). Rows keep the order of the write.
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { columnFrom, fieldTypeOf } from '@tidemark/core';

/** A distinct measurement and tag set of a batch. Tags are sorted by key, without empty values. */
export type SeriesRef = {
  readonly name: string;
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
  /**
   * Set by the write path: references of one series always have the same number, by which it is
   * found.
   */
  readonly stableId?: number | undefined;
};

/** Series of a batch. Those of the write path are created on demand. */
export interface SeriesList extends Iterable<SeriesRef> {
  readonly length: number;
  at(index: number): SeriesRef | undefined;
}

/**
 * Rows of one field set: every row has a value in every column. Unsigned columns are read as
 * integers.
 */
export type RowBlock = {
  readonly fieldNames: readonly string[];
  readonly columns: readonly Column[];
};

/** Points of one write to one database and retention policy. Immutable once it is passed on. */
export type PointBatch = {
  readonly database: string;
  readonly retentionPolicy: string;
  /** Number of its record in a log of points; absent when it is from none. */
  readonly record?: number | undefined;
  /** When that record was accepted. */
  readonly arrived?: bigint | undefined;
  readonly rowCount: number;
  readonly series: SeriesList;
  /** Index into `series` by row. */
  readonly seriesOfRow: Uint32Array;
  /** Nanoseconds by row. */
  readonly times: BigInt64Array;
  /** Most writes have one field set, hence one block. */
  readonly blocks: readonly RowBlock[];
  /**
   * Index into `blocks` by row; `undefined` when there is one block, then row `i` is the block's
   * row `i`.
   */
  readonly blockOfRow: Uint32Array | undefined;
  readonly rowInBlock: Uint32Array | undefined;
};

/** A point in the input of the slow path: tests, replays of small files, loopback. */
export type PointInput = {
  readonly name: string;
  readonly tags: Iterable<readonly [string, string]>;
  readonly fields: Iterable<readonly [string, FieldValue]>;
  readonly time: bigint;
};

type BlockBuilder = {
  readonly fieldNames: readonly string[];
  readonly types: readonly FieldType[];
  readonly values: FieldValue[][];
};

/** Builds a batch point by point. For small amounts; the write path has a faster way from bytes. */
export class PointBatchBuilder {
  readonly #database: string;
  readonly #retentionPolicy: string;
  readonly #series: SeriesRef[] = [];
  readonly #seriesIndex = new Map<string, number>();
  readonly #seriesOfRow: number[] = [];
  readonly #times: bigint[] = [];
  readonly #blocks: BlockBuilder[] = [];
  readonly #blockIndex = new Map<string, number>();
  readonly #blockOfRow: number[] = [];
  readonly #rowInBlock: number[] = [];

  constructor(database: string, retentionPolicy: string) {
    this.#database = database;
    this.#retentionPolicy = retentionPolicy;
  }

  get rowCount(): number {
    return this.#times.length;
  }

  add(point: PointInput): this {
    const fields = [...point.fields];
    const blockIndex = this.#block(fields);
    const block = this.#blocks[blockIndex];
    if (block === undefined) return this;
    this.#rowInBlock.push(block.values[0]?.length ?? 0);
    fields.forEach(([, value], i) => block.values[i]?.push(value));
    this.#blockOfRow.push(blockIndex);
    this.#seriesOfRow.push(this.#seriesRef(point));
    this.#times.push(point.time);
    return this;
  }

  build(): PointBatch {
    const blocks = this.#blocks.map((block) => ({
      fieldNames: block.fieldNames,
      columns: block.types.map((type, i) => columnFrom(type, block.values[i] ?? [])),
    }));
    const isSingle = blocks.length <= 1;
    return {
      database: this.#database,
      retentionPolicy: this.#retentionPolicy,
      rowCount: this.#times.length,
      series: this.#series,
      seriesOfRow: Uint32Array.from(this.#seriesOfRow),
      times: BigInt64Array.from(this.#times),
      blocks,
      blockOfRow: isSingle ? undefined : Uint32Array.from(this.#blockOfRow),
      rowInBlock: isSingle ? undefined : Uint32Array.from(this.#rowInBlock),
    };
  }

  #block(fields: readonly (readonly [string, FieldValue])[]): number {
    let key = '';
    for (const [name, value] of fields) key += `${typeof value}${name}\u0000`;
    let index = this.#blockIndex.get(key);
    if (index === undefined) {
      const types = fields.map(([, value]) => fieldTypeOf(value));
      const fieldNames = fields.map(([name]) => name);
      index = this.#blocks.push({ fieldNames, types, values: fields.map(() => []) }) - 1;
      this.#blockIndex.set(key, index);
    }
    return index;
  }

  #seriesRef(point: PointInput): number {
    const tags = [...point.tags]
      .filter(([, value]) => value !== '')
      .sort((a, b) => (a[0] < b[0] ? -1 : 1));
    let key = point.name;
    for (const [name, value] of tags) key += `\u0000${name}\u0001${value}`;
    let index = this.#seriesIndex.get(key);
    if (index === undefined) {
      const tagKeys = tags.map(([name]) => name);
      const tagValues = tags.map(([, value]) => value);
      index = this.#series.push({ name: point.name, tagKeys, tagValues }) - 1;
      this.#seriesIndex.set(key, index);
    }
    return index;
  }
}
