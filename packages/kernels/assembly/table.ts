// Memtables, their tables (one per measurement) and columns. Rows lie in arrival order, columns in pages that are as
// long as all rows before them up to 8192, so that a table with three rows costs little and a long one no copying.
import { allocate, Arena, freeArena } from './arena';
import { fieldCount } from './symbols';
import { allocateRun, freeRun } from './memory';

// Types of fields. Kept in step with src/field-codes.ts.
export const TYPE_FLOAT: u32 = 0;
export const TYPE_INTEGER: u32 = 1;
export const TYPE_UNSIGNED: u32 = 2;
export const TYPE_STRING: u32 = 3;
export const TYPE_BOOLEAN: u32 = 4;

const FIRST_PAGE: u32 = 64;
const PAGE_ROWS: u32 = 8192;
const NO_PAGE: u32 = u32.MAX_VALUE;

@unmanaged
export class Memtable {
  arena: Arena;
  shard: u32;
  firstTable: usize;
}

@unmanaged
export class Table {
  memtable: usize;
  next: usize;
  shard: u32;
  measurement: u32;
  rowCount: u32;
  minTime: i64;
  maxTime: i64;
  // The page that takes rows now.
  page: u32;
  pageEnd: u32;
  pageStart: u32;
  seriesBase: usize;
  timeBase: usize;
  seriesPages: PageList;
  timePages: PageList;
  // Field number -> address of its Column, 0 where the table has none.
  byField: usize;
  byFieldCapacity: u32;
  columns: usize;
  columnCount: u32;
  columnCapacity: u32;
  // What the running batch found here.
  batch: u32;
  batchRows: u32;
  batchColumns: u32;
  batchNext: usize;
  // Rows ordered by series, see sorted.ts: `orderCount` row numbers.
  order: usize;
  orderCount: u32;
}

@unmanaged
export class PageList {
  pages: usize;
  capacity: u32;
}

@unmanaged
export class Column {
  type: u32;
  field: u32;
  page: u32;
  // Biased by the page's first row: value of row r lies at base + r * width, its validity byte at validBase + r.
  base: usize;
  validBase: usize;
  list: PageList;
}

@inline
export function pageOfRow(row: u32): u32 {
  if (row < PAGE_ROWS) return row < FIRST_PAGE ? 0 : 26 - clz(row);
  return 7 + row / PAGE_ROWS;
}
@inline
export function pageStartOf(page: u32): u32 {
  if (page === 0) return 0;
  return page <= 7 ? (FIRST_PAGE >>> 1) << page : (page - 7) * PAGE_ROWS;
}
@inline
export function pageRowsOf(page: u32): u32 {
  if (page === 0) return FIRST_PAGE;
  return page <= 7 ? (FIRST_PAGE >>> 1) << page : PAGE_ROWS;
}
@inline
export function widthOfType(type: u32): usize {
  return type === TYPE_BOOLEAN ? 1 : 8;
}

@inline
export function pageAddress(list: PageList, page: u32): usize {
  return page < list.capacity ? <usize>load<u32>(list.pages + <usize>page * 4) : 0;
}

function setPage(arena: Arena, list: PageList, page: u32, address: usize): bool {
  if (page >= list.capacity) {
    let capacity: u32 = list.capacity === 0 ? 4 : list.capacity * 2;
    while (capacity <= page) capacity <<= 1;
    const pages = allocate(arena, <usize>capacity * 4);
    if (pages === 0) return false;
    memory.copy(pages, list.pages, <usize>list.capacity * 4);
    memory.fill(pages + <usize>list.capacity * 4, 0, <usize>(capacity - list.capacity) * 4);
    list.pages = pages;
    list.capacity = capacity;
  }
  store<u32>(list.pages + <usize>page * 4, <u32>address);
  return true;
}

function ensurePage(arena: Arena, list: PageList, page: u32, bytes: usize, validBytes: usize): usize {
  const present = pageAddress(list, page);
  if (present !== 0) return present;
  const address = allocate(arena, bytes + validBytes);
  if (address === 0) return 0;
  memory.fill(address + bytes, 0, validBytes);
  return setPage(arena, list, page, address) ? address : 0;
}

function make<T>(arena: Arena): usize {
  const address = allocate(arena, offsetof<T>());
  if (address !== 0) memory.fill(address, 0, offsetof<T>());
  return address;
}

/** A new, empty memtable; 0 when memory is exhausted. */
export function createMemtable(shard: u32): usize {
  const arenaBytes = (offsetof<Arena>() + 7) & ~7;
  // The arena's own record lies in its first chunk.
  const temporary = memory.data(64, 8);
  memory.fill(temporary, 0, 64);
  const draft = changetype<Arena>(temporary);
  const address = allocate(draft, arenaBytes + offsetof<Memtable>());
  if (address === 0) return 0;
  memory.copy(address, temporary, offsetof<Arena>());
  const memtable = changetype<Memtable>(address + arenaBytes);
  memtable.arena = changetype<Arena>(address);
  memtable.shard = shard;
  memtable.firstTable = 0;
  return changetype<usize>(memtable);
}

export function memtableBytes(memtable: usize): usize {
  return changetype<Memtable>(memtable).arena.bytes;
}

export function freeMemtable(memtable: usize): void {
  const record = changetype<Memtable>(memtable);
  let table = record.firstTable;
  while (table !== 0) {
    const next = changetype<Table>(table).next;
    dropOrder(changetype<Table>(table));
    table = next;
  }
  freeArena(record.arena);
}

export function dropOrder(table: Table): void {
  if (table.orderCount > 0) freeRun(table.order, <usize>table.orderCount * 4);
  table.orderCount = 0;
}

export function createTable(memtable: usize, measurement: u32): usize {
  const record = changetype<Memtable>(memtable);
  const arena = record.arena;
  const address = make<Table>(arena);
  const seriesPages = make<PageList>(arena);
  const timePages = make<PageList>(arena);
  if (address === 0 || seriesPages === 0 || timePages === 0) return 0;
  const table = changetype<Table>(address);
  table.memtable = memtable;
  table.shard = record.shard;
  table.measurement = measurement;
  table.next = record.firstTable;
  table.minTime = i64.MAX_VALUE;
  table.maxTime = i64.MIN_VALUE;
  table.page = NO_PAGE;
  table.seriesPages = changetype<PageList>(seriesPages);
  table.timePages = changetype<PageList>(timePages);
  record.firstTable = address;
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

/** Adds a column; the field must not have one. 0 when memory is exhausted. */
export function addColumn(tableAddress: usize, field: u32, type: u32): usize {
  const table = changetype<Table>(tableAddress);
  const arena = changetype<Memtable>(table.memtable).arena;
  if (field >= table.byFieldCapacity) {
    let capacity: u32 = table.byFieldCapacity === 0 ? 16 : table.byFieldCapacity * 2;
    // All fields of the measurement are likely to come.
    while (capacity <= field || capacity < fieldCount(table.measurement)) capacity <<= 1;
    const address = allocate(arena, <usize>capacity * 4);
    if (address === 0) return 0;
    memory.copy(address, table.byField, <usize>table.byFieldCapacity * 4);
    memory.fill(
      address + <usize>table.byFieldCapacity * 4,
      0,
      <usize>(capacity - table.byFieldCapacity) * 4,
    );
    table.byField = address;
    table.byFieldCapacity = capacity;
  }
  if (table.columnCount === table.columnCapacity) {
    const capacity: u32 = table.columnCapacity === 0 ? 16 : table.columnCapacity * 2;
    const address = allocate(arena, <usize>capacity * 4);
    if (address === 0) return 0;
    memory.copy(address, table.columns, <usize>table.columnCount * 4);
    table.columns = address;
    table.columnCapacity = capacity;
  }
  const address = make<Column>(arena);
  const list = make<PageList>(arena);
  if (address === 0 || list === 0) return 0;
  const column = changetype<Column>(address);
  column.type = type;
  column.field = field;
  column.page = NO_PAGE;
  column.list = changetype<PageList>(list);
  store<u32>(table.columns + <usize>table.columnCount * 4, <u32>address);
  store<u32>(table.byField + <usize>field * 4, <u32>address);
  table.columnCount++;
  return address;
}

/** Makes the page that takes row `rowCount` the current one. False when memory is exhausted. */
export function openPage(table: Table): bool {
  const arena = changetype<Memtable>(table.memtable).arena;
  const page = pageOfRow(table.rowCount);
  const rows = <usize>pageRowsOf(page);
  const series = ensurePage(arena, table.seriesPages, page, rows * 4, 0);
  const times = ensurePage(arena, table.timePages, page, rows * 8, 0);
  if (series === 0 || times === 0) return false;
  const start = pageStartOf(page);
  table.page = page;
  table.pageStart = start;
  table.pageEnd = start + <u32>rows;
  table.seriesBase = series - <usize>start * 4;
  table.timeBase = times - <usize>start * 8;
  return true;
}

/** Makes the table's current page the column's. False when memory is exhausted. */
export function openColumnPage(table: Table, column: Column): bool {
  const arena = changetype<Memtable>(table.memtable).arena;
  const page = table.page;
  const rows = <usize>pageRowsOf(page);
  const width = widthOfType(column.type);
  const address = ensurePage(arena, column.list, page, rows * width, rows);
  if (address === 0) return false;
  column.base = address - <usize>table.pageStart * width;
  column.validBase = address + rows * width - <usize>table.pageStart;
  column.page = page;
  return true;
}

/** Page `page` of a column, made when it is missing: values, then validity bytes. 0 when memory is exhausted. */
export function columnPage(table: Table, column: Column, page: u32): usize {
  const rows = <usize>pageRowsOf(page);
  const arena = changetype<Memtable>(table.memtable).arena;
  return ensurePage(arena, column.list, page, rows * widthOfType(column.type), rows);
}

// One row by its number, for readers.
@inline
export function seriesOfRow(table: Table, row: u32): u32 {
  const page = pageOfRow(row);
  const address = <usize>load<u32>(table.seriesPages.pages + <usize>page * 4);
  return load<u32>(address + <usize>(row - pageStartOf(page)) * 4);
}
@inline
export function timeOfRow(table: Table, row: u32): i64 {
  const page = pageOfRow(row);
  const address = <usize>load<u32>(table.timePages.pages + <usize>page * 4);
  return load<i64>(address + <usize>(row - pageStartOf(page)) * 8);
}

/** Address of a row's value, 0 where it has none. */
@inline
export function valueOfRow(column: Column, row: u32, width: usize): usize {
  const page = pageOfRow(row);
  const address = pageAddress(column.list, page);
  if (address === 0) return 0;
  const rows = <usize>pageRowsOf(page);
  const index = <usize>(row - pageStartOf(page));
  return load<u8>(address + rows * width + index) === 0 ? 0 : address + index * width;
}

/** Takes back rows from `rowCount` on and columns from `columnCount` on. */
export function truncateTable(tableAddress: usize, rowCount: u32, columnCount: u32): void {
  const table = changetype<Table>(tableAddress);
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = columnAt(table, i);
    if (i >= columnCount) {
      store<u32>(table.byField + <usize>column.field * 4, 0);
      continue;
    }
    const width = widthOfType(column.type);
    for (let row = rowCount; row < table.rowCount; row++) {
      const page = pageOfRow(row);
      const address = pageAddress(column.list, page);
      if (address === 0) continue;
      const index = <usize>(row - pageStartOf(page));
      store<u8>(address + <usize>pageRowsOf(page) * width + index, 0);
    }
    column.page = NO_PAGE;
  }
  table.columnCount = columnCount;
  table.rowCount = rowCount;
  // Forces openPage for the next row.
  table.page = NO_PAGE;
  table.pageEnd = 0;
  dropOrder(table);
  // The bounds of time may stay too wide: they are only used to skip.
}

// What the loader asks of tables and columns.
export function tableRows(table: usize): u32 {
  return changetype<Table>(table).rowCount;
}
export function tableMeasurement(table: usize): u32 {
  return changetype<Table>(table).measurement;
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
export function tableColumns(table: usize): u32 {
  return changetype<Table>(table).columnCount;
}
export function columnField(table: usize, index: u32): u32 {
  return columnAt(changetype<Table>(table), index).field;
}
export function columnType(table: usize, index: u32): u32 {
  return columnAt(changetype<Table>(table), index).type;
}
/** Columns that the shard's schema declared may not have values here. */
export function columnHasValues(table: usize, index: u32): bool {
  return columnAt(changetype<Table>(table), index).list.capacity > 0;
}
