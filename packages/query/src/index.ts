// Public face of @tidemark/query: the meaning of InfluxQL over any SeriesSource.
export { executeExplain, executeSelect, executeShow } from './executor.ts';
export type { SchemaShowStatement } from './show/run-show.ts';
export type { IntoPoint, PointSink, QueryCatalog, QueryContext, UnsignedValue } from './context.ts';
export { DEFAULT_QUERY_LIMITS } from './limits.ts';
export type { QueryLimits } from './limits.ts';
export { contentType, writeResults } from './output/write-results.ts';
export type { Epoch, ResultFormat, StatementRun } from './output/write-results.ts';
export { rowsBatch } from './result.ts';
export type {
  MixedColumn,
  MixedValue,
  ResultBatch,
  ResultColumn,
  ResultMessage,
  TimeColumn,
} from './result.ts';
export type * from './series-source.ts';
