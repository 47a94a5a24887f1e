// Rows of few fields each in a table of very many. Once columns would be mostly empty, the table is
// sparse until the end of the batch: its values are in a list, row by row, instead of arrays with a
// place for each row.
import {
  AREA_SPARSE_COLUMN,
  AREA_SPARSE_STARTS,
  BLOCK_BITS,
  BLOCK_FLOATS,
  BLOCK_INTEGERS,
  EFFORT_FAST,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  TYPE_STRING,
} from './abi.gen';
import { blockBound, encodeBlock, encodeStringBlock } from './blocks';
import { writeVarint } from './bytes';
import { allocatePages, freePages, scratch } from './memory';
import { fieldName, fieldNameLength } from './names';
import { stringsBound } from './strings';
import { Column, columnAt, LISTED_BYTES, reserveList, skipRows, Table, widthOfType } from './table';

/** Tables with fewer columns, or fewer rows, waste little. */
const WIDE_COLUMNS: u32 = 64;
const ROWS_STEP: u32 = 16;
/** Columns are mostly empty when fewer than one in this many places has a value. */
const PLACES_PER_VALUE: u64 = 8;

let isAllowed: bool = false;

/** Whether tables may be sparse. */
export function allowSparse(allows: bool): void {
  isAllowed = allows;
}

/** Whether the table should become sparse. Looks at every sixteenth row. */
export function isMostlyEmpty(table: Table): bool {
  if (!isAllowed || table.isSparse || table.rowCount % ROWS_STEP !== 0) return false;
  return hasFewValues(table);
}

function hasFewValues(table: Table): bool {
  const values = <u64>table.valueCount * PLACES_PER_VALUE;
  const rows = <u64>table.rowCount;
  if (table.rowCount < ROWS_STEP || values >= rows * <u64>table.columnCount) return false;
  const used = countUsed(table);
  return used >= WIDE_COLUMNS && values < rows * <u64>used;
}

/** Moves the values of the columns to the list. Returns false when memory is exhausted. */
export function makeSparse(table: Table): bool {
  const addresses = scratch(AREA_SPARSE_STARTS, <usize>table.columnCount * 4);
  if (addresses === 0 || !reserveList(table, table.valueCount)) return false;
  let end = addresses;
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = columnAt(table, i);
    if (column.nextRow === 0) continue;
    store<u32>(end, <u32>changetype<usize>(column));
    end += 4;
  }
  for (let row: u32 = 0; row < table.rowCount; row++) {
    for (let at = addresses; at < end; at += 4) {
      const column = changetype<Column>(<usize>load<u32>(at));
      if (row >= column.nextRow) continue;
      if (column.isSparse && load<u8>(column.valid + <usize>row) === 0) continue;
      const bits =
        column.type === TYPE_BOOLEAN
          ? <u64>load<u8>(column.values + <usize>row)
          : load<u64>(column.values + <usize>row * 8);
      push(table, row, column, bits);
    }
  }
  table.isSparse = true;
  table.listedRows = table.capacity;
  return true;
}

@inline
function push(table: Table, row: u32, column: Column, bits: u64): void {
  const listed = table.list + <usize>table.listCount * LISTED_BYTES;
  table.listCount++;
  store<u32>(listed, row);
  store<u32>(listed, <u32>changetype<usize>(column), 4);
  store<u64>(listed, bits, 8);
}

/** Adds a value of the last row to the list, which has room. The last one of a field wins. */
export function listValue(table: Table, row: u32, column: Column, bits: u64): void {
  if (column.nextRow <= row) {
    column.nextRow = row + 1;
    push(table, row, column, bits);
    return;
  }
  let listed = table.list + <usize>table.listCount * LISTED_BYTES;
  do listed -= LISTED_BYTES;
  while (<usize>load<u32>(listed, 4) !== changetype<usize>(column));
  store<u64>(listed, bits, 8);
}

/** Completes the table at the end of a batch. Returns false when memory is exhausted. */
export function finishTable(address: usize): bool {
  const table = changetype<Table>(address);
  if (isAllowed && !table.isSparse && hasFewValues(table) && !makeSparse(table)) return false;
  if (table.isSparse) return true;
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = columnAt(table, i);
    if (column.nextRow === 0 || column.nextRow === table.rowCount) continue;
    if (!skipRows(table, column, table.rowCount)) return false;
  }
  return true;
}

function countUsed(table: Table): u32 {
  let used: u32 = 0;
  for (let i: u32 = 0; i < table.columnCount; i++) if (columnAt(table, i).nextRow > 0) used++;
  return used;
}

/** The first value of a row in the list, or of a later row. */
function firstOfRow(table: Table, row: u32): u32 {
  let at: u32 = 0;
  let end = table.listCount;
  while (at < end) {
    const middle = (at + end) >>> 1;
    if (load<u32>(table.list + <usize>middle * LISTED_BYTES) < row) at = middle + 1;
    else end = middle;
  }
  return at;
}

/**
 * Numbers the columns of the values [from, to) of the list in the order of appearance, and writes
 * their addresses. Returns the number of columns.
 */
function numberColumns(table: Table, from: u32, to: u32, addresses: usize): u32 {
  for (let i: u32 = 0; i < table.columnCount; i++) columnAt(table, i).index = u32.MAX_VALUE;
  let count: u32 = 0;
  for (let i = from; i < to; i++) {
    const column = columnOfListed(table, i);
    if (column.index !== u32.MAX_VALUE) continue;
    column.index = count;
    store<u32>(addresses + <usize>count * 4, <u32>changetype<usize>(column));
    count++;
  }
  return count;
}

@inline
function columnOfListed(table: Table, index: u32): Column {
  return changetype<Column>(<usize>load<u32>(table.list + <usize>index * LISTED_BYTES, 4));
}

/**
 * Copies the values of a sparse table row by row, in an order of `openRowOrder` unless it is 0.
 * Returns the address of the number of columns with values, u32, and four bytes that are not used;
 * then bits of each value, u64; the number of its column, u32; for each row the number of values up
 * to its end, u32; and field and type of each column, u32 both. 0 when memory is exhausted.
 * `closeSparseRows` frees them.
 */
export function openSparseRows(address: usize, order: usize): usize {
  const table = changetype<Table>(address);
  const rows = table.rowCount;
  const count = table.listCount;
  const addresses = scratch(AREA_SPARSE_STARTS, <usize>table.columnCount * 4);
  if (addresses === 0) return 0;
  const columnCount = numberColumns(table, 0, count, addresses);
  const bytes: usize = 16 + <usize>count * 12 + <usize>rows * 4 + <usize>columnCount * 8;
  const opened = allocatePages(bytes);
  if (opened === 0) return 0;
  store<u32>(opened, <u32>bytes);
  store<u32>(opened, columnCount, 8);
  let words = opened + 16;
  let columns = words + <usize>count * 8;
  let ends = columns + <usize>count * 4;
  let end: u32 = 0;
  for (let i: u32 = 0; i < rows; i++) {
    const row = order === 0 ? i : load<u32>(order + <usize>i * 4);
    const first = order === 0 ? end : firstOfRow(table, row);
    for (let k = first; k < count; k++) {
      const listed = table.list + <usize>k * LISTED_BYTES;
      if (load<u32>(listed) !== row) break;
      store<u64>(words, load<u64>(listed, 8));
      store<u32>(columns, columnOfListed(table, k).index);
      words += 8;
      columns += 4;
      end++;
    }
    store<u32>(ends, end);
    ends += 4;
  }
  for (let i: u32 = 0; i < columnCount; i++) {
    const column = changetype<Column>(<usize>load<u32>(addresses + <usize>i * 4));
    store<u32>(ends + <usize>i * 8, column.field);
    store<u32>(ends + <usize>i * 8, column.type, 4);
  }
  return opened + 8;
}

export function closeSparseRows(opened: usize): void {
  freePages(opened - 8, <usize>load<u32>(opened - 8));
}

let encodedBytes: usize = 0;
let encodedColumns: u32 = 0;

/** Size of what `encodeSparseColumns` has written. */
export function sparseEncodedBytes(): usize {
  return encodedBytes;
}

/** Number of columns of the rows of the last `encodeSparseColumns`. */
export function sparseColumnCount(): u32 {
  return encodedColumns;
}

/**
 * Writes columns of the rows [from, to) of a sparse table as a record of the log has them
 * (docs/formats/wal.md), from the one of this number on, as many as there is room for; their count
 * before the first. Returns the number behind them; `u32.MAX_VALUE` when memory is exhausted.
 */
export function encodeSparseColumns(
  address: usize,
  from: u32,
  to: u32,
  column: u32,
  dst: usize,
  room: usize,
): u32 {
  const table = changetype<Table>(address);
  const rows = to - from;
  const first = firstOfRow(table, from);
  const end = firstOfRow(table, to);
  const starts = scratch(AREA_SPARSE_STARTS, (<usize>table.columnCount * 2 + 2) * 4);
  const sorted = scratch(AREA_SPARSE_COLUMN, <usize>(end - first) * 4 + 8 + <usize>rows * 9);
  if (starts === 0 || sorted === 0) return u32.MAX_VALUE;
  const addresses = starts + (<usize>table.columnCount + 2) * 4;
  const count = numberColumns(table, first, end, addresses);
  encodedColumns = count;
  sortByColumn(table, first, end, starts, count, sorted);
  const values = (sorted + <usize>(end - first) * 4 + 7) & ~7;
  const valid = values + <usize>rows * 8;
  let at = column === 0 ? writeVarint(dst, <u64>count) : dst;
  for (; column < count; column++) {
    const one = changetype<Column>(<usize>load<u32>(addresses + <usize>column * 4));
    const behind = starts + <usize>column * 4;
    const valueCount = load<u32>(behind, 4) - load<u32>(behind);
    const textBytes = spread(
      table,
      one,
      sorted + <usize>load<u32>(behind) * 4,
      valueCount,
      from,
      rows,
      values,
      valid,
    );
    const nameLength = fieldNameLength(table.measurement, one.field);
    const bound = stringsBound(rows, textBytes) + blockBound(rows) + <usize>nameLength + 32;
    if (at + bound > dst + room) break;
    at = writeVarint(at, <u64>nameLength);
    memory.copy(at, fieldName(table.measurement, one.field), <usize>nameLength);
    at += <usize>nameLength;
    store<u8>(at, <u8>one.type);
    store<u8>(at, valueCount < rows ? 1 : 0, 1);
    at += 2;
    if (valueCount < rows) {
      at = endBlock(at, encodeBlock(BLOCK_BITS, valid, rows, at + BLOCK_HEAD, EFFORT_FAST));
    }
    const size =
      one.type === TYPE_STRING
        ? encodeStringBlock(values, rows, at + BLOCK_HEAD, EFFORT_FAST)
        : encodeBlock(kindOf(one.type), values, rows, at + BLOCK_HEAD, EFFORT_FAST);
    if (size < 0) return u32.MAX_VALUE;
    at = endBlock(at, size);
  }
  encodedBytes = column > 0 ? at - dst : 0;
  return column;
}

/** Room for the length of a block. */
const BLOCK_HEAD: usize = 5;

/** Puts the length before a block, which is moved to it. Returns the end. */
function endBlock(at: usize, size: i32): usize {
  const to = writeVarint(at, <u64>size);
  memory.copy(to, at + BLOCK_HEAD, <usize>size);
  return to + <usize>size;
}

@inline
function kindOf(type: u32): u32 {
  return type === TYPE_FLOAT ? BLOCK_FLOATS : type === TYPE_BOOLEAN ? BLOCK_BITS : BLOCK_INTEGERS;
}

/** Indexes of the values [from, to) (u32) by column, then by row; and where each column begins. */
function sortByColumn(
  table: Table,
  from: u32,
  to: u32,
  starts: usize,
  columns: u32,
  sorted: usize,
): void {
  memory.fill(starts, 0, (<usize>columns + 2) * 4);
  // Counting sort: starts[i + 2] becomes the number of values of column i, then starts[i + 1] the
  // place of its next value.
  for (let i = from; i < to; i++) {
    const at = starts + <usize>(columnOfListed(table, i).index + 2) * 4;
    store<u32>(at, load<u32>(at) + 1);
  }
  let sum: u32 = 0;
  for (let i: u32 = 0; i < columns + 2; i++) {
    sum += load<u32>(starts + <usize>i * 4);
    store<u32>(starts + <usize>i * 4, sum);
  }
  for (let i = from; i < to; i++) {
    const at = starts + <usize>(columnOfListed(table, i).index + 1) * 4;
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(sorted + <usize>place * 4, i);
  }
}

/**
 * Spreads the values of a column, whose indexes are at `sorted`, over rows from `from` on. Rows
 * without one repeat the value before, which takes next to nothing. Returns the bytes of texts.
 */
function spread(
  table: Table,
  column: Column,
  sorted: usize,
  count: u32,
  from: u32,
  rows: u32,
  values: usize,
  valid: usize,
): usize {
  memory.fill(valid, 0, <usize>rows);
  let textBytes: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const listed = table.list + <usize>load<u32>(sorted + <usize>i * 4) * LISTED_BYTES;
    const bits = load<u64>(listed, 8);
    const own = load<u32>(listed) - from;
    store<u8>(valid + <usize>own, 1);
    if (column.type === TYPE_STRING) textBytes += <usize>(bits >> 32);
    // Rows before the first value take it, too.
    const start: u32 = i === 0 ? 0 : own;
    const next = sorted + <usize>(i + 1) * 4;
    const end =
      i + 1 < count ? load<u32>(table.list + <usize>load<u32>(next) * LISTED_BYTES) - from : rows;
    if (column.type === TYPE_BOOLEAN) {
      memory.fill(values + <usize>start, <u8>bits, <usize>(end - start));
    } else for (let row = start; row < end; row++) store<u64>(values + <usize>row * 8, bits);
  }
  return textBytes;
}
