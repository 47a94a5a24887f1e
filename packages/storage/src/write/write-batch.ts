// A batch: a write request, or a part of one, validated and in columns, before it is logged and
// applied.
import type { RowBlock } from '../columns/row-block.ts';
import type { EncodedTables } from '../wal/wal-record.ts';
import type { Shard } from '../shard/shard.ts';

export type ShardTables = {
  readonly shard: Shard;
  readonly tables: readonly RowBlock[];
  /** The tables in the encoding of a log record. */
  readonly encoded: readonly EncodedTables[];
};

/** A field type that the batch defined. It is removed when the batch cannot be logged. */
export type DefinedField = {
  readonly shard: Shard;
  readonly measurementId: number;
  readonly field: string;
};

export type WriteBatch = {
  readonly parts: readonly ShardTables[];
  readonly definedFields: readonly DefinedField[];
  /** Where the next batch of the request begins; `undefined` after the last one. */
  readonly next: number | undefined;
};
