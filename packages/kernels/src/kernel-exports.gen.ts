// Generated from abi/ by `npm run abi -w @tidemark/kernels`; do not edit.

import type { WasmMemory } from './web-assembly.ts';

/**
 * Exports of the compiled kernels. Addresses and sizes are unsigned 32-bit numbers, given as signed
 * ones.
 */
export type KernelExports = {
  readonly memory: WasmMemory;
  // accumulators
  accumulatedWindows(address: number): number;
  accumulatorCount(address: number): number;
  accumulatorOf(address: number, index: number): number;
  closeAccumulators(address: number): void;
  firstWindow(address: number): number;
  openAccumulators(
    count: number,
    kind: number,
    wants: number,
    every: bigint,
    offset: bigint,
    start: bigint,
  ): number;
  resetAccumulator(address: number): void;
  // blocks
  blockBound(count: number): number;
  encodeBlock(kind: number, src: number, count: number, dst: number, effort: number): number;
  encodeIds(src: number, count: number, dst: number, effort: number): number;
  encodeStringBlock(references: number, count: number, dst: number, effort: number): number;
  finishBlock(kind: number, count: number, dst: number): number;
  finishStringBlock(count: number): number;
  startBlock(src: number, bytes: number): number;
  // body
  setTimes(unit: bigint, now: bigint): void;
  // cached
  decodeForCache(kind: number, values: number, decoded: number): number;
  expandCached(column: number, from: number, to: number, dst: number): void;
  filterCached(
    column: number,
    kind: number,
    from: number,
    to: number,
    bound: bigint,
    operation: number,
    flip: number,
    mask: number,
  ): 0 | 1;
  gatherCached(column: number, rows: number, n: number, dst: number): void;
  rowsBefore(times: number, time: bigint): number;
  rowsOfMask(mask: number, masked: number, first: number, dst: number): number;
  storeCached(decoded: number, column: number): void;
  // cached-windows
  accumulateCached(
    address: number,
    timeColumn: number,
    values: number,
    from: number,
    to: number,
  ): 0 | 1;
  accumulateRows(address: number, timeColumn: number, from: number, to: number): 0 | 1;
  // crc32c
  crc32c(address: number, bytes: number, crc: number): number;
  // dictionary
  exportedEntryBytes(): number;
  // filters
  countMask(mask: number, count: number): number;
  filterBytes(
    values: number,
    count: number,
    bound: number,
    op: number,
    flip: number,
    mask: number,
  ): void;
  filterFloats(
    values: number,
    count: number,
    bound: number,
    op: number,
    flip: number,
    mask: number,
  ): void;
  filterIntegers(
    values: number,
    count: number,
    bound: bigint,
    op: number,
    flip: number,
    mask: number,
  ): void;
  filterUnsigneds(
    values: number,
    count: number,
    bound: bigint,
    op: number,
    flip: number,
    mask: number,
  ): void;
  selectRows(values: number, width: number, count: number, mask: number, dst: number): number;
  // float-text
  floatPowers(): number;
  // hash
  seedHashes(value: bigint): void;
  // ingest
  addPointField(name: number, length: number, type: number, bits: bigint): 0 | 1;
  addShard(id: number, start: bigint, end: bigint): void;
  admitSeries(others: number): void;
  batchColumns(table: number): number;
  batchNext(table: number): number;
  beginBatch(start: number, asks: boolean, limit: number, oldest: bigint, newest: bigint): void;
  beginPoint(key: number, length: number, measurementLength: number): void;
  dropPoint(): void;
  finishPoint(time: bigint): void;
  forgetTables(): void;
  getBatchFirstSeries(): number;
  getBatchPoints(): number;
  getBatchTables(): number;
  getBatchValues(): number;
  getCursor(): number;
  getEventEnd(): number;
  getEventField(): number;
  getEventNew(): number;
  getEventOld(): number;
  getEventShard(): number;
  getEventStart(): number;
  getStagedKey(): number;
  getStagedKeyLength(): number;
  getStagedMeasurement(): number;
  getStagedTime(): bigint;
  run(): number;
  runPoint(): number;
  setTable(table: number): 0 | 1;
  // json
  infiniteValue(): number;
  writeRows(
    table: number,
    columns: number,
    from: number,
    to: number,
    dst: number,
    room: number,
  ): number;
  writtenRows(): number;
  // line-scan
  closeLines(): void;
  openLines(address: number, bytes: number): void;
  setTextLimit(bytes: number): void;
  // memory
  allocatePages(bytes: number): number;
  freePages(address: number, bytes: number): void;
  memoryInUse(): number;
  scratch(area: number, bytes: number): number;
  trimScratch(bytes: number): void;
  // merge-rows
  areOrdered(times: number, from: number, to: number, flip: bigint, allowsEqual: number): 0 | 1;
  mergeByTime(
    times: number,
    left: number,
    leftCount: number,
    right: number,
    rightCount: number,
    out: number,
    limit: number,
    flip: bigint,
  ): number;
  mergedEqualTimes(): number;
  mergedRowsFromLeft(): number;
  openRunHeap(
    heap: number,
    times: number,
    bounds: number,
    runs: number,
    ranks: number,
    rankColumns: number,
    rows: number,
    flip: bigint,
  ): void;
  runHeapBytes(runs: number): number;
  takeFromRunHeap(heap: number, out: number, limit: number): number;
  // number
  decimalPowers(): number;
  // row-order
  gatherRows(order: number, rows: number, values: number, width: number, output: number): void;
  openRowOrder(ids: number, rows: number): number;
  closeRowOrder(order: number): void;
  // rows
  addRowSeries(start: number, end: number): number;
  beginRowBlock(block: number, count: number, names: number, capacity: number): number;
  beginRowShape(address: number, parts: number): number;
  clearRowSeries(): void;
  getRowColumn(field: number): number;
  getRowCount(): number;
  getRowCursor(): number;
  getRowKeyEnd(): number;
  getRowKeyStart(): number;
  getRowSeries(): number;
  getRowSeriesCount(): number;
  getRowTimes(): number;
  getRowValueBytes(): number;
  getRowValueCount(): number;
  getRowValueEnds(): number;
  getRowValues(): number;
  getWriteSeries(): number;
  getWriteSeriesCount(): number;
  openRows(address: number, bytes: number): void;
  plainKeyEnd(): number;
  rowBlockBytes(count: number, names: number, capacity: number): number;
  readRowSeries(start: number, end: number): number;
  rowSeriesIndex(start: number, end: number): number;
  rowShapeBytes(parts: number, bytes: number): number;
  runRows(): number;
  setRowCursor(position: number): void;
  setRowField(field: number, name: number, length: number, kind: number): void;
  setRowShapePart(part: number, address: number, length: number): void;
  takeRowValues(): void;
  takeRows(): void;
  // series
  exportedSeriesBytes(): number;
  exportSeries(first: number, end: number, dst: number, room: number): number;
  findSeries(key: number, length: number, hash: number): number;
  deleteSeries(id: number): void;
  hashKey(key: number, length: number): number;
  loadSeriesEntries(src: number, bytes: number, count: number, measurements: number): number;
  nextSeriesId(): number;
  undeleteSeries(id: number): 0 | 1;
  seriesCount(): number;
  seriesKey(id: number): number;
  seriesKeyLength(id: number): number;
  seriesMeasurement(id: number): number;
  seriesMemory(): number;
  seriesPresent(): number;
  // series-guess
  truncateSeries(first: number): void;
  // series-list
  encodeSeriesList(
    first: number,
    end: number,
    ids: number,
    dst: number,
    leavesDeleted: boolean,
  ): number;
  exportDictionary(which: number, first: number, end: number, dst: number, room: number): number;
  findSymbol(text: number, length: number): number;
  insertSeriesList(
    src: number,
    bytes: number,
    count: number,
    firstId: number,
    knownBelow: number,
    numbers: number,
    measurementCount: number,
  ): number;
  listedEntries(): number;
  loadDictionary(which: number, src: number, bytes: number, count: number): number;
  placeLoaded(count: number): 0 | 1;
  seriesListBound(first: number, end: number): number;
  splitSeries(first: number, end: number): number;
  splitWords(): number;
  tagKeyBytes(id: number): number;
  tagKeyLength(id: number): number;
  symbolBytes(id: number): number;
  symbolCount(): number;
  dictionaryCount(which: number): number;
  symbolLength(id: number): number;
  dictionaryMemory(): number;
  // series-order
  mergedFromLeft(): number;
  mergeIds(
    what: number,
    left: number,
    leftCount: number,
    right: number,
    rightCount: number,
    out: number,
    limit: number,
  ): number;
  sortIds(what: number, ids: number, count: number): void;
  // strings
  areStringsUtf8(from: number, to: number): 0 | 1;
  codeStrings(references: number, count: number): number;
  decodeStringHead(count: number): number;
  gatherStrings(): 0 | 1;
  isFramed(): 0 | 1;
  openStringFrames(block: number, count: number): number;
  stringBytes(): number;
  stringCodes(): number;
  stringEntries(): number;
  stringHeadBytes(): number;
  stringOffsets(): number;
  stringPackedBytes(): number;
  stringTexts(): number;
  stringsBound(count: number, bytes: number): number;
  unpackStringFrame(frame: number, start: number): number;
  // names
  fieldName(measurement: number, field: number): number;
  fieldNameLength(measurement: number, field: number): number;
  fieldOf(measurement: number, name: number, length: number): number;
  findField(measurement: number, name: number, length: number): number;
  measurementCount(): number;
  measurementName(measurement: number): number;
  measurementNameLength(measurement: number): number;
  measurementOf(name: number, length: number): number;
  // sparse-rows
  allowSparse(allows: boolean): void;
  closeSparseRows(opened: number): void;
  encodeSparseColumns(
    address: number,
    from: number,
    to: number,
    column: number,
    dst: number,
    room: number,
  ): number;
  finishTable(address: number): 0 | 1;
  openSparseRows(address: number, order: number): number;
  sparseColumnCount(): number;
  sparseEncodedBytes(): number;
  // table
  addColumn(tableAddress: number, field: number, type: number): number;
  columnField(table: number, index: number): number;
  columnOf(table: number, field: number): number;
  columnType(table: number, index: number): number;
  columnValid(table: number, index: number): number;
  columnValues(table: number, index: number): number;
  createTable(shard: number, measurement: number): number;
  dropTables(): void;
  tableBytes(): number;
  tableColumns(table: number): number;
  tableIsSparse(table: number): 0 | 1;
  tableValues(table: number): number;
  tableCount(): number;
  tableMaxTime(table: number): bigint;
  tableMeasurement(table: number): number;
  tableMinTime(table: number): bigint;
  tableRows(table: number): number;
  tableSeries(table: number): number;
  tableShard(table: number): number;
  tableTimes(table: number): number;
  // tallies
  closeTallies(address: number): void;
  openTallies(
    groups: number,
    kind: number,
    hasTimes: boolean,
    descends: boolean,
    rank: number,
    rankSize: number,
    every: bigint,
    offset: bigint,
    start: bigint,
  ): number;
  talliedBytes(address: number): number;
  talliedDistinct(tally: number): number;
  talliedValues(tally: number): number;
  talliedWindows(address: number): number;
  talliesOfGroup(address: number, group: number, dst: number): number;
  // tally-results
  beginOrder(address: number, at: number, onlyMost: boolean): number;
  beginSelect(address: number, at: number, rank: number): void;
  copyOrdered(address: number, from: number, count: number, dst: number): void;
  copyRanked(address: number, at: number, descends: boolean, dst: number): number;
  endOrder(address: number): void;
  orderedMode(address: number): bigint;
  orderPass(address: number, by: number): 0 | 1;
  selectPass(address: number, at: number): 0 | 1;
  selectedValue(address: number, at: number): bigint;
  selectedAmongEqual(address: number): number;
  // tally-rows
  isHopeless(address: number, at: number, word: bigint): 0 | 1;
  tally(
    address: number,
    group: number,
    times: number,
    values: number,
    valid: number,
    count: number,
  ): 0 | 1;
  tallyCached(
    address: number,
    group: number,
    timeColumn: number,
    valueColumn: number,
    from: number,
    to: number,
  ): 0 | 1;
  // text-frames
  markFrames(needle: number, length: number, marks: number): void;
  openStringFilters(address: number): number;
  stringFilterBytes(): number;
  stringFrameCount(): number;
  stringFrameTables(): number;
  unpackedStringFrames(): number;
  // text-search
  marksOfCodes(codes: number, rows: number, ofTexts: number, marks: number): void;
  markTexts(
    texts: number,
    offsets: number,
    count: number,
    needle: number,
    length: number,
    marks: number,
  ): void;
  // windows
  accumulate(address: number, times: number, values: number, valid: number, count: number): 0 | 1;
  accumulateGroups(
    address: number,
    groups: number,
    times: number,
    values: number,
    valid: number,
    count: number,
  ): 0 | 1;
  accumulateRecord(address: number, record: number): 0 | 1;
  copyResult(address: number, result: number, descends: boolean, dst: number): void;
};
