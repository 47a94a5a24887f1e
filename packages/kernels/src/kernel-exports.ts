// What assembly/index.ts exports. Addresses and sizes are unsigned 32-bit; negative results are
// errors.
import type { WasmMemory } from './web-assembly.ts';

type CodecExports = {
  scratch(slot: number, bytes: number): number;
  trimScratch(bytes: number): void;
  memoryInUse(): number;
  allocateRun(bytes: number): number;
  freeRun(address: number, bytes: number): void;
  crc32c(address: number, bytes: number, crc: number): number;
  blockBound(count: number): number;
  stringsBound(count: number, bytes: number): number;
  encodeBlock(kind: number, src: number, count: number, dst: number, effort: number): number;
  encodeIds(src: number, count: number, dst: number, effort: number): number;
  encodeStringBlock(references: number, count: number, dst: number, effort: number): number;
  startBlock(src: number, bytes: number): number;
  finishBlock(kind: number, count: number, dst: number): number;
  finishStringBlock(count: number): number;
  codeStrings(references: number, count: number): number;
  stringCodes(): number;
  stringReferences(): number;
  stringOffsets(): number;
  stringBytes(): number;
  stringEntries(): number;
};

type IngestExports = {
  decimalPowers(): number;
  openBody(bytes: number): number;
  setTimes(unit: bigint, now: bigint): void;
  beginBatch(
    start: number,
    asksForSeries: number,
    bytesLimit: number,
    oldest: bigint,
    newest: bigint,
  ): void;
  run(): number;
  runPoint(): number;
  addShard(id: number, start: bigint, end: bigint): void;
  setTable(table: number): number;
  forgetTables(): void;
  admitSeries(others: number): void;
  dropPoint(): void;
  beginPoint(key: number, length: number, measurementLength: number): void;
  addPointField(name: number, length: number, type: number, bits: bigint): number;
  finishPoint(time: bigint): void;
  getCursor(): number;
  getEventStart(): number;
  getEventEnd(): number;
  getEventField(): number;
  getEventNew(): number;
  getEventOld(): number;
  getEventShard(): number;
  getStagedTime(): bigint;
  getStagedMeasurement(): number;
  getStagedKey(): number;
  getStagedKeyLength(): number;
  getBatchPoints(): number;
  getBatchValues(): number;
  getBatchFirstSeries(): number;
  getBatchTables(): number;
  batchNext(table: number): number;
  batchColumns(table: number): number;
};

type TableExports = {
  createTable(shard: number, measurement: number): number;
  dropTables(): void;
  tableBytes(): number;
  tableCount(): number;
  finishTable(table: number): number;
  addColumn(table: number, field: number, type: number): number;
  tableRows(table: number): number;
  tableMeasurement(table: number): number;
  tableShard(table: number): number;
  tableMinTime(table: number): bigint;
  tableMaxTime(table: number): bigint;
  tableSeries(table: number): number;
  tableTimes(table: number): number;
  tableColumns(table: number): number;
  columnOf(table: number, field: number): number;
  columnField(table: number, index: number): number;
  columnType(table: number, index: number): number;
  columnValues(table: number, index: number): number;
  columnValid(table: number, index: number): number;
};

type SeriesExports = {
  allocateRun(bytes: number): number;
  exportSeries(first: number, end: number, dst: number, room: number): number;
  exportedSeriesBytes(): number;
  loadSeriesEntries(src: number, bytes: number, count: number, measurements: number): number;
  placeLoaded(count: number): number;
  orderRows(ids: number, rows: number): number;
  gatherRows(order: number, rows: number, values: number, width: number, output: number): void;
  sortIds(what: number, ids: number, count: number): void;
  mergeIds(
    of: number,
    left: number,
    leftCount: number,
    right: number,
    rightCount: number,
    out: number,
    limit: number,
  ): number;
  mergedFromLeft(): number;
  textCountOf(which: number): number;
  exportTexts(which: number, first: number, end: number, dst: number, room: number): number;
  exportedEntryBytes(): number;
  loadTexts(which: number, src: number, bytes: number, count: number): number;
  setTextSeed(seed: bigint): void;
  textCount(): number;
  textBytes(id: number): number;
  textLength(id: number): number;
  findText(text: number, length: number): number;
  addText(text: number, length: number): number;
  textMemory(): number;
  tagKeyBytes(id: number): number;
  tagKeyLength(id: number): number;
  splitSeries(first: number, end: number): number;
  splitWords(): number;
  seriesListBound(first: number, end: number): number;
  encodeSeriesList(
    first: number,
    end: number,
    ids: number,
    dst: number,
    leavesForgotten: boolean,
  ): number;
  listedEntries(): number;
  insertSeriesList(
    src: number,
    bytes: number,
    count: number,
    firstId: number,
    knownBelow: number,
    numbers: number,
    measurementCount: number,
  ): number;
};

type NameExports = {
  measurementOf(name: number, length: number): number;
  measurementCount(): number;
  measurementName(measurement: number): number;
  measurementNameLength(measurement: number): number;
  fieldOf(measurement: number, name: number, length: number): number;
  findField(measurement: number, name: number, length: number): number;
  fieldName(measurement: number, field: number): number;
  fieldNameLength(measurement: number, field: number): number;
  setSeriesSeed(seed: bigint): void;
  nextSeriesId(): number;
  seriesCount(): number;
  seriesMemory(): number;
  seriesPresent(): number;
  seriesKey(id: number): number;
  seriesKeyLength(id: number): number;
  hashKey(key: number, length: number): number;
  findSeries(key: number, length: number, hash: number): number;
  forgetSeries(id: number): void;
  rememberSeries(id: number): number;
  truncateSeries(first: number): void;
  seriesMeasurement(id: number): number;
};

type ScanExports = {
  filterFloats(v: number, count: number, bound: number, op: number, flip: number, m: number): void;
  filterIntegers(
    v: number,
    count: number,
    bound: bigint,
    op: number,
    flip: number,
    m: number,
  ): void;
  filterUnsigneds(
    v: number,
    count: number,
    bound: bigint,
    op: number,
    flip: number,
    m: number,
  ): void;
  filterBytes(v: number, count: number, bound: number, op: number, flip: number, m: number): void;
  selectRows(values: number, width: number, count: number, mask: number, dst: number): number;
  countMask(mask: number, count: number): number;
  openAccumulator(
    kind: number,
    wants: number,
    every: bigint,
    offset: bigint,
    start: bigint,
  ): number;
  closeAccumulator(accumulator: number): void;
  accumulate(
    accumulator: number,
    times: number,
    values: number,
    valid: number,
    count: number,
  ): number;
  accumulateRecord(accumulator: number, record: number): number;
  accumulatorCount(accumulator: number): number;
  resetAccumulator(accumulator: number): void;
  copyResult(accumulator: number, result: number, descends: number, dst: number): void;
};

type CacheExports = {
  decodeForCache(type: number, count: number): number;
  storeCached(column: number): void;
  rowsBefore(times: number, time: bigint): number;
  expandCached(column: number, from: number, to: number, dst: number): void;
  gatherCached(column: number, rows: number, count: number, dst: number): void;
  rowsOfMask(mask: number, count: number, first: number, dst: number): number;
  filterCached(
    column: number,
    type: number,
    from: number,
    to: number,
    bound: bigint,
    operation: number,
    flip: number,
    mask: number,
  ): number;
  accumulateRows(accumulator: number, times: number, from: number, to: number): number;
  accumulateCached(
    accumulator: number,
    times: number,
    values: number,
    from: number,
    to: number,
  ): number;
};

type RowExports = {
  openRows(bytes: number): number;
  setRowTimes(unit: bigint, now: bigint): void;
  beginRowBlock(fields: number, nameBytes: number, capacity: number): number;
  setRowField(field: number, name: number, length: number, kind: number): void;
  runRows(): number;
  takeRows(): void;
  rowSeriesIndex(start: number, end: number): number;
  addRowSeries(start: number, end: number): number;
  readRowSeries(start: number, end: number): number;
  beginRowShape(parts: number, bytes: number): number;
  setRowShapePart(part: number, address: number, length: number): void;
  takeRowValues(): void;
  getRowSeriesCount(): number;
  getRowValues(): number;
  getRowValueBytes(): number;
  getRowValueEnds(): number;
  getRowValueCount(): number;
  clearRowSeries(seed: bigint): void;
  getRowCount(): number;
  getRowCursor(): number;
  setRowCursor(position: number): void;
  getRowKeyStart(): number;
  getRowKeyEnd(): number;
  getRowTimes(): number;
  getRowSeries(): number;
  getRowColumn(field: number): number;
  getWriteSeriesCount(): number;
  getWriteSeries(): number;
};

type MergeExports = {
  areOrdered(times: number, from: number, to: number, flip: bigint, allowsEqual: number): number;
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
  mergedRowsFromLeft(): number;
  mergedEqualTimes(): number;
  runHeapBytes(runs: number): number;
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
  takeFromRunHeap(heap: number, out: number, limit: number): number;
};

type TextExports = {
  floatPowers(): number;
  writeRows(table: number, columns: number, from: number, to: number, dst: number): number;
  infiniteValue(): number;
};

type ShortSeriesExports = {
  setShortRows(ids: number, ends: number, times: number, columns: number, count: number): void;
  writeShortSeries(
    first: number,
    end: number,
    previousId: number,
    blocks: number,
    blocksRoom: number,
    entries: number,
    entriesRoom: number,
    entriesWanted: number,
  ): number;
  shortBlockBytes(): number;
  shortEntryBytes(): number;
  shortMinTime(): bigint;
  shortMaxTime(): bigint;
};

/** Exports of the compiled kernels. */
export type KernelExports = { readonly memory: WasmMemory } & CodecExports &
  IngestExports &
  TableExports &
  SeriesExports &
  NameExports &
  ScanExports &
  RowExports &
  CacheExports &
  MergeExports &
  ShortSeriesExports &
  TextExports;
