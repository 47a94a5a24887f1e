// Public face of @tidemark/core: values that all packages share.
export { assert, AssertionFailed, unreachable } from './assert.ts';
export { Arrivals } from './arrivals.ts';
export type { Arrival } from './arrivals.ts';
export { Numbered } from './numbered.ts';
export { Budget } from './budget.ts';
export { budgetRows } from './budget-metrics.ts';
export type { Holder, Part } from './budget.ts';
export { ByteLru } from './byte-lru.ts';
export { systemClock, TIMER_MS_MAX } from './clock.ts';
export type { Clock } from './clock.ts';
export { deferred } from './deferred.ts';
export type { Deferred } from './deferred.ts';
export { LATE, untilAborted, within } from './deadline.ts';
export { columnFrom, columnLength, columnValue, isValid } from './column.ts';
export { copyParts } from './copy-parts.ts';
export type { ColumnValues } from './copy-parts.ts';
export { csvCell, csvQuoted } from './csv.ts';
export type {
  BooleanColumn,
  Column,
  FloatColumn,
  IntegerColumn,
  StringColumn,
  UnsignedColumn,
  Validity,
} from './column.ts';
export { compareValues, isComparison, planComparison } from './comparison.ts';
export type { ComparisonOperator } from './comparison.ts';
export { lineAndColumn } from './diagnostic.ts';
export type { Diagnostic, Span } from './diagnostic.ts';
export {
  AppError,
  Cancelled,
  Conflict,
  Corruption,
  Forbidden,
  Internal,
  InvalidRequest,
  LimitExceeded,
  NotFound,
  Unauthorized,
  Unavailable,
  messageOf,
} from './errors.ts';
export type { AppErrorOptions } from './errors.ts';
export { FIELD_TYPES, fieldTypeOf, reportedType } from './field-type.ts';
export type { FieldType, FieldValue, UnsignedValue } from './field-type.ts';
export {
  floatBits,
  floatOfBits,
  floatToInt64,
  isInt64Operator,
  MAX_INT64,
  MAX_UINT64,
  MIN_INT64,
  wrapInt64,
  wrapInteger,
} from './int64.ts';
export type { Int64Operator } from './int64.ts';
export {
  DOCUMENT_KINDS,
  DOCUMENT_LIMITS,
  listedDocument,
  StaleVersion,
  versionSummary,
} from './document.ts';
export type {
  DocumentCheck,
  DocumentKind,
  DocumentRecord,
  DocumentRecords,
  DocumentStore,
  DocumentSummary,
  ListedDocument,
  StoredDocument,
  VersionSummary,
} from './document.ts';
export { checkJsonDepth } from './json-depth.ts';
export type { Limit, SettingLimit } from './limits.ts';
export {
  familiesOf,
  metricRows,
  LatencyHistogram,
  METRICS_TYPE,
  printMetrics,
  RequestMetrics,
} from './metrics.ts';
export type {
  CounterModule,
  MetricFamily,
  MetricRow,
  MetricSample,
  MetricTable,
} from './metrics.ts';
export { compareBytes, escapeMeasurement, escapeTagPart, formatSeriesKey } from './tags.ts';
export type { TagSet } from './tags.ts';
export { TextCodes } from './text-codes.ts';
export {
  areSameTexts,
  compareTexts,
  concatTexts,
  copyTextAt,
  copyTexts,
  NO_TEXTS,
  stringsOf,
  textAt,
  TextBuilder,
  textBytesAt,
  textCount,
  textLength,
  textsOf,
} from './texts.ts';
export type { Texts } from './texts.ts';
export { compactTexts, longestText, withEmptyTexts } from './compact-texts.ts';
export { hashSeed, hashText, hashWholeText } from './text-hash.ts';
export { openAll, OpenParts } from './open-parts.ts';
export { own } from './own.ts';
export { Pipe } from './pipe.ts';
export { PRECISION_NANOS } from './precision.ts';
export type { Precision } from './precision.ts';
export { didYouMean, suggest } from './suggest.ts';
export {
  ALL_TIME,
  floorDiv,
  floorMod,
  formatRfc3339,
  MAX_TIME,
  MIN_TIME,
  NANOS_PER_DAY,
  NANOS_PER_HOUR,
  NANOS_PER_MICROSECOND,
  NANOS_PER_MILLISECOND,
  NANOS_PER_MINUTE,
  NANOS_PER_SECOND,
  NANOS_PER_WEEK,
  parseRfc3339,
  unitOfDigits,
} from './time.ts';
export type { TimeRange, Timestamp } from './time.ts';
export {
  DURATION_UNITS,
  formatClockDuration,
  formatDuration,
  parseClockDuration,
} from './duration.ts';
export { isExactInUtf8, strictUtf8Text, utf8Lines, utf8Text } from './utf8.ts';
export { COMPAT_VERSION, TIDEMARK_VERSION } from './version.ts';
export { columnBytes, rowsBytes, tagsBytes, textBytes, textsBytes } from './weight.ts';
