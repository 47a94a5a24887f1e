// Generated from abi/ by `npm run abi -w @tidemark/kernels`; do not edit.

export {
  accumulatedWindows,
  accumulatorCount,
  accumulatorOf,
  closeAccumulators,
  firstWindow,
  openAccumulators,
  resetAccumulator,
} from './accumulators';
export {
  blockBound,
  encodeBlock,
  encodeIds,
  encodeStringBlock,
  finishBlock,
  finishStringBlock,
  startBlock,
} from './blocks';
export {
  setTimes,
} from './body';
export {
  decodeForCache,
  expandCached,
  filterCached,
  gatherCached,
  rowsBefore,
  rowsOfMask,
  storeCached,
} from './cached';
export {
  accumulateCached,
  accumulateRows,
} from './cached-windows';
export {
  crc32c,
} from './crc32c';
export {
  exportedEntryBytes,
} from './dictionary';
export {
  countMask,
  filterBytes,
  filterFloats,
  filterIntegers,
  filterUnsigneds,
  selectRows,
} from './filters';
export {
  floatPowers,
} from './float-text';
export {
  seedHashes,
} from './hash';
export {
  addPointField,
  addShard,
  admitSeries,
  batchColumns,
  batchNext,
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
export {
  infiniteValue,
  writeRows,
  writtenRows,
} from './json';
export {
  closeLines,
  openLines,
  setTextLimit,
} from './line-scan';
export {
  allocatePages,
  freePages,
  memoryInUse,
  scratch,
  trimScratch,
} from './memory';
export {
  areOrdered,
  mergeByTime,
  mergedEqualTimes,
  mergedRowsFromLeft,
  openRunHeap,
  runHeapBytes,
  takeFromRunHeap,
} from './merge-rows';
export {
  decimalPowers,
} from './number';
export {
  gatherRows,
  openRowOrder,
  closeRowOrder,
} from './row-order';
export {
  addRowSeries,
  beginRowBlock,
  beginRowShape,
  clearRowSeries,
  getRowColumn,
  getRowCount,
  getRowCursor,
  getRowKeyEnd,
  getRowKeyStart,
  getRowSeries,
  getRowSeriesCount,
  getRowTimes,
  getRowValueBytes,
  getRowValueCount,
  getRowValueEnds,
  getRowValues,
  getWriteSeries,
  getWriteSeriesCount,
  openRows,
  plainKeyEnd,
  rowBlockBytes,
  readRowSeries,
  rowSeriesIndex,
  rowShapeBytes,
  runRows,
  setRowCursor,
  setRowField,
  setRowShapePart,
  takeRowValues,
  takeRows,
} from './rows';
export {
  exportedSeriesBytes,
  exportSeries,
  findSeries,
  deleteSeries,
  hashKey,
  loadSeriesEntries,
  nextSeriesId,
  undeleteSeries,
  seriesCount,
  seriesKey,
  seriesKeyLength,
  seriesMeasurement,
  seriesMemory,
  seriesPresent,
} from './series';
export {
  truncateSeries,
} from './series-guess';
export {
  encodeSeriesList,
  exportDictionary,
  findSymbol,
  insertSeriesList,
  listedEntries,
  loadDictionary,
  placeLoaded,
  seriesListBound,
  splitSeries,
  splitWords,
  tagKeyBytes,
  tagKeyLength,
  symbolBytes,
  symbolCount,
  dictionaryCount,
  symbolLength,
  dictionaryMemory,
} from './series-list';
export {
  mergedFromLeft,
  mergeIds,
  sortIds,
} from './series-order';
export {
  areStringsUtf8,
  codeStrings,
  decodeStringHead,
  gatherStrings,
  isFramed,
  openStringFrames,
  stringBytes,
  stringCodes,
  stringEntries,
  stringHeadBytes,
  stringOffsets,
  stringPackedBytes,
  stringTexts,
  stringsBound,
  unpackStringFrame,
} from './strings';
export {
  fieldName,
  fieldNameLength,
  fieldOf,
  findField,
  measurementCount,
  measurementName,
  measurementNameLength,
  measurementOf,
} from './names';
export {
  allowSparse,
  closeSparseRows,
  encodeSparseColumns,
  finishTable,
  openSparseRows,
  sparseColumnCount,
  sparseEncodedBytes,
} from './sparse-rows';
export {
  addColumn,
  columnField,
  columnOf,
  columnType,
  columnValid,
  columnValues,
  createTable,
  dropTables,
  tableBytes,
  tableColumns,
  tableIsSparse,
  tableValues,
  tableCount,
  tableMaxTime,
  tableMeasurement,
  tableMinTime,
  tableRows,
  tableSeries,
  tableShard,
  tableTimes,
} from './table';
export {
  closeTallies,
  openTallies,
  talliedBytes,
  talliedDistinct,
  talliedValues,
  talliedWindows,
  talliesOfGroup,
} from './tallies';
export {
  beginOrder,
  beginSelect,
  copyOrdered,
  copyRanked,
  endOrder,
  orderedMode,
  orderPass,
  selectPass,
  selectedValue,
  selectedAmongEqual,
} from './tally-results';
export {
  isHopeless,
  tally,
  tallyCached,
} from './tally-rows';
export {
  markFrames,
  openStringFilters,
  stringFilterBytes,
  stringFrameCount,
  stringFrameTables,
  unpackedStringFrames,
} from './text-frames';
export {
  marksOfCodes,
  markTexts,
} from './text-search';
export {
  accumulate,
  accumulateGroups,
  accumulateRecord,
  copyResult,
} from './windows';
