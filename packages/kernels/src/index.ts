// Public face of @tidemark/kernels: WebAssembly kernels and their typed loader.
export { Accumulator, Accumulators } from './accumulator.ts';
export type { AccumulatorOptions, RowsPartial, WindowResult, Words } from './accumulator.ts';
export { CACHED_ROWS_MAX, EXPECTED_KEY_MAX } from './abi.gen.ts';
export { ColumnCache } from './column-cache.ts';
export type { CachedColumn, CachedRows, CachedType, CacheEntries } from './column-cache.ts';
export type { ColumnCondition } from './comparison.ts';
export { CodecError } from './codec-error.ts';
export type { CodecErrorReason } from './codec-error.ts';
export { Codecs } from './codecs.ts';
export type { CodecEffort, CodedStrings, StringHead } from './codecs.ts';
export type * from './ingest-types.ts';
export { IngestKernel } from './ingest-kernel.ts';
export type { IngestOptions, LineParser } from './ingest-kernel.ts';
export { JsonRows } from './json-rows.ts';
export type { JsonColumn, TextSink } from './json-rows.ts';
export {
  BATCH_BYTES_KEPT,
  BATCH_BYTES_MAX,
  BLOCK_VALUES_MAX,
  FIELDS_PER_POINT_MAX,
  PARSE_ERRORS_MAX,
} from './limits.ts';
export { compileKernels, Kernels } from './loader.ts';
export type { KernelModule } from './loader.ts';
export { mergeOrder, RowOrder } from './merge-rows.ts';
export type { SortedRuns, TieOrder } from './merge-rows.ts';
export { RowBuffers, ScratchBuffer } from './row-buffers.ts';
export { RowScanner } from './rows.ts';
export type { RowField, RowFieldKind, RowStop } from './rows.ts';
export { Scans } from './scans.ts';
export { NO_MEASUREMENT, SeriesKeys } from './series-keys.ts';
export type { SeriesList, SeriesPart, SplitSeries } from './series-keys.ts';
export { sortedByKey, sortedByTags, sortedSymbols } from './series-order.ts';
export { StagedTable } from './staged-table.ts';
export type { StagedField, StagedRows, StagedValues } from './staged-table.ts';
