// Public face of @tidemark/query: the meaning of InfluxQL over any SeriesSource.
export { executeSelect, executeSeries } from './executor.ts';
export { executeExplain } from './explain.ts';
export type { SeriesRead } from './plan/plan-series.ts';
export { answerText } from './answer.ts';
export type { RowBatch } from './batch/row-batch.ts';
export { ExecutionContext } from './execution/execution-context.ts';
export { executeShow } from './show/run-show.ts';
export type { SchemaShowStatement } from './show/run-show.ts';
export type {
  IntoPoint,
  PointSink,
  QueryCatalog,
  QueryContext,
  QueryMemory,
  SeriesText,
} from './context.ts';
export { refuseTime, tagPredicate } from './show/show-context.ts';
export { splitCondition } from './analyse/time-range.ts';
export type { ConditionSplit } from './analyse/time-range.ts';
export { localToInstant, openZone } from './analyse/zone.ts';
export type { Zone } from './analyse/zone.ts';
export { Windows } from './plan/windows.ts';
export { FUNCTIONS } from './functions/registry.ts';
export type { FunctionKind, FunctionSpec } from './functions/registry.ts';
export { PointWriter } from './batch/point-writer.ts';
export { foldAccumulator, foldedType, hasOwnTimes } from './functions/folds.ts';
export type { Accumulator } from './functions/reducers.ts';
export { pickTied } from './functions/merge-heads.ts';
export type { EndFunction, TiedRow } from './functions/merge-heads.ts';
export { checkRegex, textMatcher } from './regex.ts';
export type { TextMatcher } from './regex.ts';
export { zeroCounters } from './execution/profile.ts';
export { planCacheCounters } from './plan/plan-cache.ts';
export { DEFAULT_QUERY_LIMITS, memoryLimitExceeded, PLAN_CACHE_BYTES } from './limits.ts';
export { compareSeriesKeys, tagsOfSeriesKey } from './series-key.ts';
export type { QueryLimits } from './limits.ts';
export { csvError } from './output/csv-encoder.ts';
export { escapedJson } from './output/json-values.ts';
export { contentType, readEpoch, writeResults } from './output/write-results.ts';
export type { ResultFormat, StatementRun } from './output/write-results.ts';
export { releaseBuffer } from './output/buffer-pool.ts';
export { diagnosticDocument } from './output/diagnostics.ts';
export { located, relocated } from './output/diagnostics.ts';
export type { DiagnosticDocument } from './output/diagnostics.ts';
export { rowsBatch } from './result.ts';
export type {
  MixedColumn,
  MixedValue,
  ResultBatch,
  ResultColumn,
  ResultMessage,
  TimeColumn,
} from './result.ts';
export { Driver, eachBatch, eachPulled } from './driver.ts';
export type { Pulled, Supervision } from './driver.ts';
export { rewritePredicate } from './predicate.ts';
export { calculatedMask, ofSeries } from './project/calculated.ts';
export { flatMapBatches, isPause, nextBatch, waitFor, waitForChange } from './operator.ts';
export type { Operator, Pause, Steps } from './operator.ts';
export { collectNames } from './measurement-names.ts';
export type { MeasurementNames } from './measurement-names.ts';
export { eachMeasurement } from './each-measurement.ts';
export { AGGREGATE_FUNCTIONS, FOLD_FUNCTIONS } from './series-source.ts';
export type * from './series-source.ts';
