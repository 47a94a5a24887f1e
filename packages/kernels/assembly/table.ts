// Tables with the rows of the running batch: one per shard and measurement, an array per column,
// rows in the order of arrival. Tables outlive their batch, so that the next one can use their
// columns and arrays. All of them are dropped at once when they take too much memory, or when field
// types have changed.
import { TYPE_BOOLEAN } from './abi.gen';
import { allocate, Arena, freeArena } from './arena';
import { fieldCount } from './names';

const FIRST_ROWS: u32 = 16;
// Arrays that were replaced stay in the arena. Growing by four keeps them below a third of it.
const GROWTH: u32 = 4;
/** A value in the list: row u32, address of the column u32, bits u64. */
export const LISTED_BYTES: usize = 16;

@unmanaged
export class Table {
  shard: u32;
  measurement: u32;
  rowCount: u32;
  capacity: u32;
  minTime: i64;
  maxTime: i64;
  series: usize;
  times: usize;
  // Addresses of columns by number of the field, 0 for none.
  byField: usize;
  byFieldCapacity: u32;
  columns: usize;
  columnCount: u32;
  columnCapacity: u32;
  // The batch of the rows, the number of columns before it, and the next table of the batch.
  batch: u32;
  batchColumns: u32;
  batchNext: usize;
  // Values of the batch; repeated ones of a row count, too.
  valueCount: u32;
  // Whether the values of the batch are in the list, not in the arrays of columns (sparse-rows.ts).
  isSparse: bool;
  // The list, and rows for which `series` and `times` have room then.
  list: usize;
  listCount: u32;
  listCapacity: u32;
  listedRows: u32;
}

@unmanaged
export class Column {
  type: u32;
  field: u32;
  values: usize;
  // A byte per row; used only if the column has nulls.
  valid: usize;
  // The row after the last one with a value.
  nextRow: u32;
  isSparse: bool;
  // See layouts.ts.
  mark: u32;
  // See sparse-rows.ts.
  index: u32;
}

// Records of the two arenas: one for all tables, one for the texts of the running batch.
const arenaRecord: usize = memory.data(64, 8);
const textRecord: usize = memory.data(64, 8);
let tables: u32 = 0;

@inline
function arena(): Arena {
  return changetype<Arena>(arenaRecord);
}

/** Memory of all tables and texts. */
export function tableBytes(): usize {
  return arena().bytes + changetype<Arena>(textRecord).bytes;
}
export function tableCount(): u32 {
  return tables;
}

/** Frees all tables. */
export function dropTables(): void {
  freeArena(arena());
  memory.fill(arenaRecord, 0, 64);
  tables = 0;
}

/** Frees the texts of the last batch. */
export function dropTexts(): void {
  freeArena(changetype<Arena>(textRecord));
  memory.fill(textRecord, 0, 64);
}

@inline
export function widthOfType(type: u32): usize {
  return type === TYPE_BOOLEAN ? 1 : 8;
}

/** Allocates memory for a text of the running batch. Returns 0 when memory is exhausted. */
@inline
function allocateText(bytes: usize): usize {
  return allocate(changetype<Arena>(textRecord), bytes);
}

/**
 * Copies a text of the body, for the time of the batch. Returns the reference to the copy, or
 * `NO_TEXT` when memory is exhausted.
 */
@inline
export function keepText(bits: u64): u64 {
  const length = <usize>(bits >> 32);
  // An empty text needs no bytes.
  if (length === 0) return bits;
  const text = allocateText(length);
  if (text === 0) return NO_TEXT;
  memory.copy(text, <usize>(bits & 0xffffffff), length);
  return <u64>text | ((<u64>length) << 32);
}
export const NO_TEXT: u64 = u64.MAX_VALUE;

function make<T>(): usize {
  const address = allocate(arena(), offsetof<T>());
  if (address !== 0) memory.fill(address, 0, offsetof<T>());
  return address;
}

/** Creates a table without columns. Returns 0 when memory is exhausted. */
export function createTable(shard: u32, measurement: u32): usize {
  const address = make<Table>();
  if (address === 0) return 0;
  const table = changetype<Table>(address);
  table.shard = shard;
  table.measurement = measurement;
  tables++;
  return address;
}

@inline
export function columnOf(table: Table, field: u32): usize {
  return field < table.byFieldCapacity ? <usize>load<u32>(table.byField + <usize>field * 4) : 0;
}

@inline
export function columnAt(table: Table, index: u32): Column {
  return changetype<Column>(<usize>load<u32>(table.columns + <usize>index * 4));
}

/** Copies an array to a larger one, whose new part is 0. Returns 0 when memory is exhausted. */
function enlarged(from: usize, bytes: usize, wanted: usize): usize {
  const address = allocate(arena(), wanted);
  if (address === 0) return 0;
  memory.copy(address, from, bytes);
  memory.fill(address + bytes, 0, wanted - bytes);
  return address;
}

/** Adds a column for a field that has none. Returns 0 when memory is exhausted. */
export function addColumn(tableAddress: usize, field: u32, type: u32): usize {
  const table = changetype<Table>(tableAddress);
  if (field >= table.byFieldCapacity) {
    let capacity: u32 = table.byFieldCapacity === 0 ? 16 : table.byFieldCapacity * 2;
    // All fields of the measurement are likely to be used.
    while (capacity <= field || capacity < fieldCount(table.measurement)) capacity <<= 1;
    const bytes = <usize>table.byFieldCapacity * 4;
    const address = enlarged(table.byField, bytes, <usize>capacity * 4);
    if (address === 0) return 0;
    table.byField = address;
    table.byFieldCapacity = capacity;
  }
  if (table.columnCount === table.columnCapacity) {
    const capacity: u32 = table.columnCapacity === 0 ? 16 : table.columnCapacity * 2;
    const bytes = <usize>table.columnCapacity * 4;
    const address = enlarged(table.columns, bytes, <usize>capacity * 4);
    if (address === 0) return 0;
    table.columns = address;
    table.columnCapacity = capacity;
  }
  const address = make<Column>();
  if (address === 0) return 0;
  const column = changetype<Column>(address);
  column.type = type;
  column.field = field;
  if (table.capacity > 0) {
    column.values = allocate(arena(), <usize>table.capacity * widthOfType(type));
    if (column.values === 0) return 0;
  }
  store<u32>(table.columns + <usize>table.columnCount * 4, <u32>address);
  store<u32>(table.byField + <usize>field * 4, <u32>address);
  table.columnCount++;
  return address;
}

/** Removes the columns from `count` on, which have no values yet. */
export function truncateColumns(table: Table, count: u32): void {
  for (let i = count; i < table.columnCount; i++) {
    store<u32>(table.byField + <usize>columnAt(table, i).field * 4, 0);
  }
  table.columnCount = count;
}

/** Empties the table for a batch. */
export function beginTable(table: Table, batch: u32): void {
  table.batch = batch;
  table.batchColumns = table.columnCount;
  table.rowCount = 0;
  table.valueCount = 0;
  table.isSparse = false;
  table.listCount = 0;
  table.minTime = i64.MAX_VALUE;
  table.maxTime = i64.MIN_VALUE;
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = columnAt(table, i);
    column.nextRow = 0;
    column.isSparse = false;
  }
}

@inline
function nextCapacity(table: Table): u32 {
  return table.capacity === 0 ? FIRST_ROWS : table.capacity * GROWTH;
}

/**
 * Bytes that the table would take with one more row of `values`, `columns` of them in new columns.
 */
export function bytesForRow(table: Table, columns: u32, values: u32): u64 {
  let capacity = <u64>table.capacity;
  let bytes: u64 = 0;
  if (table.isSparse) {
    if (table.rowCount === table.listedRows) bytes += <u64>table.listedRows * GROWTH * 12;
    if (table.listCount + values > table.listCapacity) {
      bytes += <u64>table.listCapacity * GROWTH * LISTED_BYTES;
    }
  } else if (table.rowCount === table.capacity) {
    capacity = <u64>nextCapacity(table);
    let rowBytes: u64 = 12;
    for (let i: u32 = 0; i < table.columnCount; i++) {
      const column = columnAt(table, i);
      rowBytes += <u64>widthOfType(column.type) + (column.isSparse ? 1 : 0);
    }
    bytes = capacity * rowBytes;
  }
  return bytes + <u64>columns * (capacity * 8 + offsetof<Column>());
}

/** Drops the arrays of a table without rows, so that they are allocated again, and smaller. */
export function dropRoom(table: Table): void {
  table.capacity = 0;
}

/** Makes room for more series and times. Returns false when memory is exhausted. */
function growRows(table: Table, capacity: u32): bool {
  const rows = <usize>table.rowCount;
  const series = allocate(arena(), <usize>capacity * 4);
  const times = allocate(arena(), <usize>capacity * 8);
  if (series === 0 || times === 0) return false;
  memory.copy(series, table.series, rows * 4);
  memory.copy(times, table.times, rows * 8);
  table.series = series;
  table.times = times;
  return true;
}

/** Makes room for so many values in the list. Returns false when memory is exhausted. */
export function reserveList(table: Table, count: u32): bool {
  if (count <= table.listCapacity) return true;
  const capacity = max<u32>(count, table.listCapacity * GROWTH);
  const list = allocate(arena(), <usize>capacity * LISTED_BYTES);
  if (list === 0) return false;
  memory.copy(list, table.list, <usize>table.listCount * LISTED_BYTES);
  table.list = list;
  table.listCapacity = capacity;
  return true;
}

/** Makes room for the staged row. Returns false when memory is exhausted. */
@inline
export function reserveRow(table: Table, values: u32): bool {
  if (!table.isSparse) return table.rowCount < table.capacity || growTable(table);
  if (!reserveList(table, table.listCount + values)) return false;
  if (table.rowCount < table.listedRows) return true;
  const capacity = table.listedRows * GROWTH;
  if (!growRows(table, capacity)) return false;
  table.listedRows = capacity;
  return true;
}

/** Makes room for more rows. Returns false when memory is exhausted. */
function growTable(table: Table): bool {
  const rows = <usize>table.rowCount;
  const capacity = nextCapacity(table);
  const wanted = <usize>capacity;
  if (!growRows(table, capacity)) return false;
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = columnAt(table, i);
    const width = widthOfType(column.type);
    const values = allocate(arena(), wanted * width);
    if (values === 0) return false;
    memory.copy(values, column.values, rows * width);
    column.values = values;
    if (!column.isSparse) {
      column.valid = 0;
      continue;
    }
    const valid = allocate(arena(), wanted);
    if (valid === 0) return false;
    memory.copy(valid, column.valid, rows);
    column.valid = valid;
  }
  table.capacity = capacity;
  return true;
}

/**
 * Marks the rows of a column from its last value to `row` as null. Returns false when memory is
 * exhausted.
 */
export function skipRows(table: Table, column: Column, row: u32): bool {
  const from = <usize>column.nextRow;
  const count = <usize>row - from;
  if (!column.isSparse) {
    if (column.valid === 0) {
      column.valid = allocate(arena(), <usize>table.capacity);
      if (column.valid === 0) return false;
    }
    memory.fill(column.valid, 1, from);
    column.isSparse = true;
  }
  const width = widthOfType(column.type);
  memory.fill(column.valid + from, 0, count);
  // Nulls are encoded, too, and zeros take next to nothing.
  memory.fill(column.values + from * width, 0, count * width);
  column.nextRow = row;
  return true;
}

// The loader reads tables and columns with these functions.
export function tableRows(table: usize): u32 {
  return changetype<Table>(table).rowCount;
}
export function tableMeasurement(table: usize): u32 {
  return changetype<Table>(table).measurement;
}
export function tableIsSparse(table: usize): bool {
  return changetype<Table>(table).isSparse;
}
/** Values of a sparse table. */
export function tableValues(table: usize): u32 {
  return changetype<Table>(table).listCount;
}
export function tableShard(table: usize): u32 {
  return changetype<Table>(table).shard;
}
export function tableMinTime(table: usize): i64 {
  return changetype<Table>(table).minTime;
}
export function tableMaxTime(table: usize): i64 {
  return changetype<Table>(table).maxTime;
}
export function tableSeries(table: usize): usize {
  return changetype<Table>(table).series;
}
export function tableTimes(table: usize): usize {
  return changetype<Table>(table).times;
}
export function tableColumns(table: usize): u32 {
  return changetype<Table>(table).columnCount;
}
export function columnField(table: usize, index: u32): u32 {
  return columnAt(changetype<Table>(table), index).field;
}
export function columnType(table: usize, index: u32): u32 {
  return columnAt(changetype<Table>(table), index).type;
}
/** Address of a column's values, one per row; 0 when it has none in this batch. */
export function columnValues(table: usize, index: u32): usize {
  const column = columnAt(changetype<Table>(table), index);
  return column.nextRow === 0 ? 0 : column.values;
}
/** Address of a byte per row; 0 when all rows have a value. */
export function columnValid(table: usize, index: u32): usize {
  const column = columnAt(changetype<Table>(table), index);
  return column.isSparse ? column.valid : 0;
}
