// Reads a body line by line and appends its points. When something has to be decided by the caller,
// `run` ends with an event; the caller answers with one of the exported functions and calls `run`
// again. The staged point survives that.
import {
  EVENT_CONFLICT,
  EVENT_DONE,
  EVENT_FULL,
  EVENT_LINE,
  EVENT_MEMORY,
  EVENT_RETENTION,
  EVENT_SERIES,
  EVENT_SHARD,
  EVENT_TABLE,
  TYPE_BOOLEAN,
  TYPE_STRING,
} from './abi.gen';
import { bodyEnd } from './body';
import { appendedRows, appendedValues, appendLines, setDirectBounds } from './direct-lines';
import { lineEnd } from './line-parts';
import { scanLine } from './line-scan';
import { allocateZeros, freePages } from './memory';
import { addSeries, findSeries, hashKey, nextSeriesId, NO_SERIES } from './series';
import { addCached } from './series-guess';
import {
  clearStage,
  finishStage,
  isStaged,
  resolveSeries,
  stagedCount,
  stagedColumn,
  stagedField,
  stagedKey,
  stagedKeyHash,
  stagedKeyLength,
  stagedMeasurement,
  stagedSeries,
  stagedText,
  stagedTextHash,
  stagedTextLength,
  stagedTime,
  stageColumn,
  stageField,
  stageKey,
  stageSeries,
} from './stage';
import { fieldOf, measurementOf } from './names';
import { isMostlyEmpty, listValue, makeSparse } from './sparse-rows';
import {
  addColumn,
  beginTable,
  bytesForRow,
  Column,
  columnOf,
  dropRoom,
  dropTexts,
  keepText,
  NO_TEXT,
  reserveRow,
  skipRows,
  Table,
  tableBytes,
  truncateColumns,
} from './table';

/**
 * Work of a batch, in values or equivalent steps: parsing a batch takes a few milliseconds, and
 * larger bodies take several batches. Enough for 11,000 rows of ten fields or 32,000 of one.
 */
const BATCH_WORK_MAX: u32 = 160_000;
const LINE_WORK: u32 = 4;
/** Work of a question to the caller, or of reporting a dropped point. */
const EVENT_WORK: u32 = 16;
/** Work of a line that is left to the caller, which parses it in about ten microseconds. */
const SLOW_LINE_WORK: u32 = 160;

let cursor: usize = 0;
let eventStart: usize = 0;
let eventEnd: usize = 0;
let eventField: u32 = 0;
let eventNew: u32 = 0;
let eventOld: u32 = 0;
let eventShard: u32 = 0;
let asksForSeries: bool = false;
/** Series that may be created without asking the caller. */
let admitted: u32 = 0;
let bytesLimit: usize = 0;
let oldestTime: i64 = 0;
let newestTime: i64 = 0;

let batch: u32 = 0;
let batchTables: usize = 0;
let batchPoints: u32 = 0;
let batchValues: u32 = 0;
let lineWork: u32 = 0;
/** The line that could not be appended directly; trying again is useless. */
let indirectLine: usize = 0;
let batchFirstSeries: u32 = 0;

/** A shard of this call. */
@unmanaged
class ShardSpan {
  start: i64;
  end: i64;
  id: u64;
}

/** A body rarely spans more. */
const SHARDS: u32 = 8;
const shards: usize = memory.data(8 * offsetof<ShardSpan>(), 16);
let shardCount: u32 = 0;
let shardSlot: u32 = 0;
let shardStart: i64 = 0;
let shardEnd: i64 = 0;
let shardId: u32 = 0;

// For each measurement the table of its last row.
let currentTables: usize = 0;
let currentCapacity: u32 = 0;

export function getCursor(): usize {
  return cursor;
}
export function setCursor(position: usize): void {
  cursor = position;
}
export function getEventStart(): usize {
  return eventStart;
}
export function getEventEnd(): usize {
  return eventEnd;
}
export function getEventField(): u32 {
  return eventField;
}
export function getEventNew(): u32 {
  return eventNew;
}
export function getEventOld(): u32 {
  return eventOld;
}
export function getEventShard(): u32 {
  return eventShard;
}
export function getStagedTime(): i64 {
  return stagedTime;
}
export function getStagedMeasurement(): u32 {
  return stagedMeasurement;
}
export function getStagedKey(): usize {
  return stagedKey;
}
export function getStagedKeyLength(): u32 {
  return stagedKeyLength;
}
export function getBatchPoints(): u32 {
  return batchPoints;
}
export function getBatchValues(): u32 {
  return batchValues;
}
export function getBatchFirstSeries(): u32 {
  return batchFirstSeries;
}
export function getBatchTables(): usize {
  return batchTables;
}
export function batchNext(table: usize): usize {
  return changetype<Table>(table).batchNext;
}
export function batchColumns(table: usize): u32 {
  return changetype<Table>(table).batchColumns;
}

/** Begins a batch without rows and shards. Points outside [oldest, newest] are refused. */
export function beginBatch(start: usize, asks: bool, limit: usize, oldest: i64, newest: i64): void {
  oldestTime = oldest;
  newestTime = newest;
  cursor = start;
  asksForSeries = asks;
  bytesLimit = limit;
  batch++;
  batchTables = 0;
  batchPoints = 0;
  batchValues = 0;
  lineWork = 0;
  indirectLine = 0;
  batchFirstSeries = nextSeriesId();
  dropTexts();
  shardCount = 0;
  shardSlot = 0;
  shardStart = 0;
  shardEnd = 0;
  admitted = 0;
  clearStage();
}

@inline
function spanOf(index: u32): ShardSpan {
  return changetype<ShardSpan>(shards + <usize>index * offsetof<ShardSpan>());
}

/** The answer to EVENT_SHARD. */
export function addShard(id: u32, start: i64, end: i64): void {
  const shard = spanOf(shardSlot);
  shard.start = start;
  shard.end = end;
  shard.id = id;
  shardSlot = (shardSlot + 1) % SHARDS;
  if (shardCount < SHARDS) shardCount++;
}

/**
 * The answer to EVENT_TABLE: makes a table the current one of its measurement. Returns false when
 * memory is exhausted.
 */
export function setTable(table: usize): bool {
  const measurement = changetype<Table>(table).measurement;
  if (measurement >= currentCapacity) {
    let capacity: u32 = currentCapacity === 0 ? 16384 : currentCapacity * 2;
    while (capacity <= measurement) capacity <<= 1;
    const address = allocateZeros(<usize>capacity * 4);
    if (address === 0) return false;
    memory.copy(address, currentTables, <usize>currentCapacity * 4);
    if (currentCapacity > 0) freePages(currentTables, <usize>currentCapacity * 4);
    currentTables = address;
    currentCapacity = capacity;
  }
  store<u32>(currentTables + <usize>measurement * 4, <u32>table);
  return true;
}

/** Clears current tables, because all have been dropped. */
export function forgetTables(): void {
  memory.fill(currentTables, 0, <usize>currentCapacity * 4);
}

/** The answer to EVENT_SERIES: admits the staged series, and this many others in the batch. */
export function admitSeries(others: u32): void {
  admitted = others + 1;
}

/** Drops the staged point. */
export function dropPoint(): void {
  clearStage();
}

/**
 * Begins a point. Its key at `key` is canonical; `measurementLength` bytes of it are the
 * measurement.
 */
export function beginPoint(key: usize, length: u32, measurementLength: u32): void {
  const hash = hashKey(key, <usize>length);
  stageSeries(findSeries(key, length, hash), measurementOf(key, measurementLength));
  stageKey(key, length, hash);
}
/**
 * Adds a field. The `bits` of a string are its address and length. Returns false when the point has
 * too many fields.
 */
export function addPointField(name: usize, length: u32, type: u32, bits: u64): bool {
  return stageField(fieldOf(stagedMeasurement, name, length), type, bits);
}
/** Completes the point; `runPoint` or `run` appends it. */
export function finishPoint(time: i64): void {
  finishStage(time);
}

function findShard(time: i64): bool {
  for (let i: u32 = 0; i < shardCount; i++) {
    const shard = spanOf(i);
    if (time < shard.start || time >= shard.end) continue;
    shardStart = shard.start;
    shardEnd = shard.end;
    shardId = <u32>shard.id;
    return true;
  }
  return false;
}

@inline
function touch(table: Table): void {
  if (table.batch === batch) return;
  beginTable(table, batch);
  table.batchNext = batchTables;
  batchTables = changetype<usize>(table);
}

/**
 * Finds the columns of the staged fields and compares types. Returns the number of fields without a
 * column, or an event, which is below 0.
 */
@inline
function resolveColumns(table: Table): i32 {
  const count = stagedCount();
  let missing = 0;
  for (let i: u32 = 0; i < count; i++) {
    const staged = stagedField(i);
    const address = columnOf(table, staged.field);
    stageColumn(i, address);
    if (address === 0) {
      missing++;
      continue;
    }
    const type = changetype<Column>(address).type;
    if (type !== staged.type) {
      eventField = staged.field;
      eventNew = staged.type;
      eventOld = type;
      return -EVENT_CONFLICT;
    }
  }
  return missing;
}

/** Adds columns for new fields. Returns 0 or an event; then none is added. */
function addColumns(table: Table): i32 {
  const address = changetype<usize>(table);
  const before = table.columnCount;
  const count = stagedCount();
  for (let i: u32 = 0; i < count; i++) {
    const staged = stagedField(i);
    const field = staged.field;
    const type = staged.type;
    const known = columnOf(table, field);
    if (known === 0) {
      const added = addColumn(address, field, type);
      stageColumn(i, added);
      if (added !== 0) continue;
      truncateColumns(table, before);
      return EVENT_MEMORY;
    }
    stageColumn(i, known);
    // The point has the same new field twice, with two types.
    if (changetype<Column>(known).type !== type) {
      eventField = field;
      eventNew = type;
      eventOld = changetype<Column>(known).type;
      truncateColumns(table, before);
      return EVENT_CONFLICT;
    }
  }
  return 0;
}

/** Creates the staged series. Returns 0 or an event. */
function createSeries(): i32 {
  if (asksForSeries && admitted === 0) return EVENT_SERIES;
  const id = nextSeriesId();
  if (!addSeries(stagedKey, stagedKeyLength, stagedKeyHash, stagedMeasurement, id)) {
    return EVENT_MEMORY;
  }
  if (asksForSeries) admitted--;
  resolveSeries(id);
  if (stagedTextLength !== 0) addCached(stagedText, stagedTextLength, stagedTextHash, id);
  return 0;
}

@inline
function appendRow(table: Table): bool {
  const row = table.rowCount;
  const count = stagedCount();
  if (!reserveRow(table, count)) return false;
  const time = stagedTime;
  store<u32>(table.series + <usize>row * 4, stagedSeries);
  store<i64>(table.times + <usize>row * 8, time);
  if (table.isSparse) {
    if (!listRow(table, row, count)) return false;
  } else if (!setRow(table, row, count)) return false;
  table.valueCount += count;
  table.rowCount = row + 1;
  if (time < table.minTime) table.minTime = time;
  if (time > table.maxTime) table.maxTime = time;
  return true;
}

/** Appends the staged values to the list. Returns false when memory is exhausted. */
function listRow(table: Table, row: u32, count: u32): bool {
  for (let i: u32 = 0; i < count; i++) {
    const staged = stagedField(i);
    let bits = staged.bits;
    if (staged.type === TYPE_STRING) {
      bits = keepText(bits);
      if (bits === NO_TEXT) return false;
    }
    listValue(table, row, changetype<Column>(stagedColumn(i)), bits);
  }
  return true;
}

/** Stores the staged values in their columns. Returns false when memory is exhausted. */
@inline
function setRow(table: Table, row: u32, count: u32): bool {
  for (let i: u32 = 0; i < count; i++) {
    const staged = stagedField(i);
    const column = changetype<Column>(stagedColumn(i));
    // If a point has a field twice, the column has a value in this row already, and the last one
    // wins.
    if (column.nextRow < row && !skipRows(table, column, row)) return false;
    column.nextRow = row + 1;
    if (column.isSparse) store<u8>(column.valid + <usize>row, 1);
    const type = staged.type;
    let bits = staged.bits;
    if (type === TYPE_BOOLEAN) {
      store<u8>(column.values + <usize>row, <u8>bits);
      continue;
    }
    if (type === TYPE_STRING) {
      bits = keepText(bits);
      if (bits === NO_TEXT) return false;
    }
    store<u64>(column.values + <usize>row * 8, bits);
  }
  return true;
}

/**
 * Appends the staged point. Returns 0 or an event. With `mayEnd`, the batch ends before a point for
 * which the table would exceed the memory of tables: thousands of columns that are mostly empty
 * take far more memory than their values.
 */
function commit(mayEnd: bool): i32 {
  const time = stagedTime;
  if (time < oldestTime || time > newestTime) return EVENT_RETENTION;
  if (time < shardStart || time >= shardEnd) {
    if (!findShard(time)) return EVENT_SHARD;
  }
  const measurement = stagedMeasurement;
  const address =
    measurement < currentCapacity ? <usize>load<u32>(currentTables + <usize>measurement * 4) : 0;
  if (address === 0 || changetype<Table>(address).shard !== shardId) {
    eventShard = shardId;
    return EVENT_TABLE;
  }
  const table = changetype<Table>(address);
  const missing = resolveColumns(table);
  if (missing < 0) {
    dropPoint();
    return EVENT_CONFLICT;
  }
  touch(table);
  if (missing > 0 || table.isSparse || table.rowCount === table.capacity) {
    if (isMostlyEmpty(table) && !makeSparse(table)) {
      dropPoint();
      return EVENT_MEMORY;
    }
    if (<u64>tableBytes() + bytesForRow(table, missing, stagedCount()) > <u64>bytesLimit) {
      if (table.rowCount === 0) dropRoom(table);
      else if (mayEnd) return EVENT_FULL;
    }
  }
  if (missing > 0) {
    const before = table.columnCount;
    const event = addColumns(table);
    if (event !== 0) {
      dropPoint();
      return event;
    }
    if (stagedSeries === NO_SERIES) {
      const refused = createSeries();
      if (refused !== 0) {
        // Removes the new columns, because the point may be refused. If it is not, they are added
        // again.
        truncateColumns(table, before);
        return refused;
      }
    }
  } else if (stagedSeries === NO_SERIES) {
    const refused = createSeries();
    if (refused !== 0) return refused;
  }
  if (!appendRow(table)) return EVENT_MEMORY;
  batchPoints++;
  batchValues += stagedCount();
  clearStage();
  return 0;
}

/** Appends lines from `p` on directly. Returns the first line that has to be staged. */
@inline
function runDirect(p: usize): usize {
  // Without a known shard, no line can be appended directly.
  if (shardCount === 0) return p;
  setDirectBounds(max(oldestTime, shardStart), min(newestTime, shardEnd - 1), bytesLimit);
  const workMax = BATCH_WORK_MAX - lineWork - batchValues;
  const next = appendLines(p, currentTables, currentCapacity, batch, shardId, LINE_WORK, workMax);
  batchPoints += appendedRows;
  batchValues += appendedValues;
  lineWork += appendedRows * LINE_WORK;
  return next;
}

/** Continues the batch until the caller has to decide something, or the body ends. */
export function run(): i32 {
  while (true) {
    if (isStaged) {
      const event = commit(true);
      if (event === EVENT_FULL) {
        clearStage();
        cursor = eventStart;
        return EVENT_FULL;
      }
      if (event !== 0) {
        lineWork += EVENT_WORK;
        return event;
      }
    }
    let p = cursor;
    let byte = <u32>load<u8>(p);
    while (byte === 32 || byte === 9 || (byte === 0 && p < bodyEnd)) byte = <u32>load<u8>(++p);
    if (p >= bodyEnd) {
      cursor = bodyEnd;
      return EVENT_DONE;
    }
    if (byte === 10) {
      cursor = p + 1;
      continue;
    }
    if (byte === 35) {
      while (load<u8>(p) !== 10) p++;
      cursor = p + 1;
      continue;
    }
    eventStart = p;
    const isLong = lineWork + batchValues >= BATCH_WORK_MAX;
    if (isLong || (batchPoints > 0 && tableBytes() > bytesLimit)) {
      cursor = p;
      return EVENT_FULL;
    }
    if (p !== indirectLine) {
      indirectLine = runDirect(p);
      if (indirectLine !== p) {
        cursor = indirectLine;
        continue;
      }
    }
    const after = scanLine(p);
    if (after !== 0) {
      lineWork += LINE_WORK;
      cursor = after + 1;
      continue;
    }
    lineWork += SLOW_LINE_WORK;
    clearStage();
    eventEnd = lineEnd(p);
    cursor = eventEnd + 1;
    return EVENT_LINE;
  }
}

/** Appends the staged point without reading on: for points of `appendPoints`. */
export function runPoint(): i32 {
  return isStaged ? commit(false) : EVENT_DONE;
}
