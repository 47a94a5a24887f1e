// What assembly/index.ts exports. Addresses and sizes are unsigned 32-bit; negative results are errors.
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
  arenaBytes(): number;
  decimalPowers(): number;
  openBody(bytes: number): number;
  setTimes(unit: bigint, now: bigint): void;
  beginBatch(
    start: number,
    asksForSeries: number,
    arenaLimit: number,
    oldest: bigint,
    newest: bigint,
  ): void;
  run(): number;
  runPoint(): number;
  addShard(id: number, start: bigint, end: bigint): void;
  setTable(table: number): number;
  forgetTables(): void;
  admitSeries(): void;
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
  batchRows(table: number): number;
  batchColumns(table: number): number;
};

type MemtableExports = {
  createMemtable(shard: number): number;
  freeMemtable(memtable: number): void;
  memtableBytes(memtable: number): number;
  createTable(memtable: number, measurement: number): number;
  addColumn(table: number, field: number, type: number): number;
  truncateTable(table: number, rowCount: number, columnCount: number): void;
  tableRows(table: number): number;
  tableMeasurement(table: number): number;
  tableShard(table: number): number;
  tableMinTime(table: number): bigint;
  tableMaxTime(table: number): bigint;
  tableColumns(table: number): number;
  columnOf(table: number, field: number): number;
  columnField(table: number, index: number): number;
  columnType(table: number, index: number): number;
  columnHasValues(table: number, index: number): number;
  selectAll(table: number, rowLimit: number, start: bigint, end: bigint): number;
  selectSeries(
    table: number,
    ids: number,
    count: number,
    rowLimit: number,
    start: bigint,
    end: bigint,
  ): number;
  selectedRows(): number;
  selectedSeries(): number;
  selectedTimes(): number;
  selectedSeriesIds(): number;
  selectedStarts(): number;
  gather(table: number, field: number): number;
  gatherNulls(): number;
  encodeRowHeads(table: number, from: number, to: number): number;
  encodeColumnRows(table: number, index: number, from: number, to: number): number;
  encodeKeys(references: number, count: number, bytes: number): number;
  decodeRowHeads(table: number, src: number, bytes: number): number;
  decodeColumnRows(table: number, column: number, src: number, bytes: number, rows: number): number;
};

type NameExports = {
  measurementOf(name: number, length: number): number;
  measurementName(measurement: number): number;
  measurementNameLength(measurement: number): number;
  fieldOf(measurement: number, name: number, length: number): number;
  findField(measurement: number, name: number, length: number): number;
  fieldName(measurement: number, field: number): number;
  fieldNameLength(measurement: number, field: number): number;
  setSeriesSeed(seed: bigint): void;
  setNextSeriesId(id: number): void;
  nextSeriesId(): number;
  seriesCount(): number;
  seriesMemory(): number;
  seriesKey(id: number): number;
  seriesKeyLength(id: number): number;
  hashKey(key: number, length: number): number;
  findSeries(key: number, length: number, hash: number): number;
  removeSeries(id: number): void;
  truncateSeries(first: number): void;
  insertKeys(references: number, ids: number, count: number): number;
  insertKeyBlock(src: number, bytes: number, firstId: number): number;
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

type TextExports = {
  floatPowers(): number;
  writeRows(table: number, columns: number, from: number, to: number, dst: number): number;
  infiniteValue(): number;
};

/** Exports of the compiled kernels. */
export type KernelExports = { readonly memory: WasmMemory } & CodecExports &
  IngestExports &
  MemtableExports &
  NameExports &
  ScanExports &
  RowExports &
  CacheExports &
  TextExports;
