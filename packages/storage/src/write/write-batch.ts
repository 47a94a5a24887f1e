// What one write request (or several) adds, validated and in columns, before it is logged and
// applied.
import type { RowBlock } from '../columns/row-block.ts';
import type { Shard } from '../shard/shard.ts';

export type ShardTables = {
  readonly shard: Shard;
  readonly tables: readonly RowBlock[];
  /** The tables as a log record holds them. */
  readonly encoded: readonly Uint8Array[];
};

/** A field type that the batch defined; taken back when the batch can not be logged. */
export type DefinedField = {
  readonly shard: Shard;
  readonly measurementId: number;
  readonly field: string;
};

export type WriteBatch = {
  readonly parts: readonly ShardTables[];
  readonly definedFields: readonly DefinedField[];
  /** The request has more than this batch. */
  readonly hasMore: boolean;
};
