// Everything that the loader can call. Kept in step with src/kernel-exports.ts.
export {
  blockBound,
  encodeBlock,
  encodeStringBlock,
  finishBlock,
  finishStringBlock,
  startBlock,
} from './blocks';
export { crc32c } from './crc32c';
export { allocateRun, freeRun, memoryInUse, scratch, trimScratch } from './memory';
export {
  codeStrings,
  stringBytes,
  stringCodes,
  stringEntries,
  stringOffsets,
  stringReferences,
  stringsBound,
} from './strings';

export { arenaBytes } from './arena';
export {
  addPointField,
  addShard,
  admitSeries,
  batchColumns,
  batchNext,
  batchRows,
  beginBatch,
  beginPoint,
  dropPoint,
  finishPoint,
  forgetTables,
  getBatchFirstSeries,
  getBatchPoints,
  getBatchTables,
  getBatchValues,
  getCursor,
  getEventEnd,
  getEventField,
  getEventNew,
  getEventOld,
  getEventShard,
  getEventStart,
  getStagedKey,
  getStagedKeyLength,
  getStagedMeasurement,
  getStagedTime,
  run,
  runPoint,
  setTable,
} from './ingest';
export { openBody, setTimes } from './line-scan';
export { decimalPowers } from './number';
export {
  decodeColumnRows,
  decodeRowHeads,
  encodeColumnRows,
  encodeKeys,
  encodeRowHeads,
  insertKeyBlock,
  insertKeys,
} from './record';
export {
  addRowSeries,
  beginRowBlock,
  clearRowSeries,
  getRowColumn,
  getRowCount,
  getRowCursor,
  getRowKeyEnd,
  getRowKeyStart,
  getRowSeries,
  getRowTimes,
  getWriteSeries,
  getWriteSeriesCount,
  openRows,
  rowSeriesIndex,
  runRows,
  setRowCursor,
  setRowField,
  setRowTimes,
  takeRows,
} from './rows';
export {
  findSeries,
  hashKey,
  nextSeriesId,
  removeSeries,
  seriesCount,
  seriesKey,
  seriesKeyLength,
  seriesMemory,
  setNextSeriesId,
  setSeriesSeed,
  truncateSeries,
} from './series';
export {
  gather,
  gatherNulls,
  selectAll,
  selectedRows,
  selectedSeries,
  selectedSeriesIds,
  selectedStarts,
  selectedTimes,
  selectSeries,
} from './sorted';
export { fieldName, fieldNameLength, fieldOf, findField, measurementName, measurementNameLength, measurementOf } from './symbols';
export {
  addColumn,
  columnField,
  columnHasValues,
  columnOf,
  columnType,
  createMemtable,
  createTable,
  freeMemtable,
  memtableBytes,
  tableColumns,
  tableMaxTime,
  tableMeasurement,
  tableMinTime,
  tableRows,
  tableShard,
  truncateTable,
} from './table';
export {
  countMask,
  filterBytes,
  filterFloats,
  filterIntegers,
  filterUnsigneds,
  selectRows,
} from './filters';
export {
  accumulate,
  accumulateRecord,
  accumulatorCount,
  closeAccumulator,
  copyResult,
  openAccumulator,
  resetAccumulator,
} from './windows';
export {
  decodeForCache,
  expandCached,
  filterCached,
  gatherCached,
  rowsBefore,
  rowsOfMask,
  storeCached,
} from './cached';
export { accumulateCached } from './cached-windows';
export { floatPowers } from './float-text';
export { infiniteValue, writeRows } from './json';
