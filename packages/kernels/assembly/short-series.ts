// Series with few rows, as segments hold them: for many series in one call the blocks of a chunk
// each, with their checksums, and the entries of the directory. Formats: docs/formats/segment.md
// and encodings.md.
import {
  AREA_DENSE,
  AREA_WRITTEN_COLUMNS,
  BLOCK_BITS,
  BLOCK_INTEGERS,
  EFFORT_SMALL,
  SHORT_COLUMN_BYTES,
  SHORT_COLUMN_FIELD,
  SHORT_COLUMN_KIND,
  SHORT_COLUMN_VALID,
  SHORT_COLUMN_VALUES,
} from './abi.gen';
import { blockBound, writeBlock } from './blocks';
import { writeVarint, zigzag } from './bytes';
import { crc32c } from './crc32c';
import { scratch } from './memory';

/** What the entry of the present series tells of a column. */
@unmanaged
class WrittenColumn {
  field: u32;
  count: u32;
  validBytes: u32;
  valueBytes: u32;
}

const CHECKSUM_BYTES: usize = 4;
/** An entry without its columns, and one column of it. */
const ENTRY_BOUND: usize = 64;
const COLUMN_BOUND: usize = 32;

let ids: usize = 0;
let ends: usize = 0;
let times: usize = 0;
let columns: usize = 0;
let columnCount: u32 = 0;

// What the format of segments says, which storage knows: rows from which on a chunk has statistics,
// and the flag of a column that has nulls.
let rowsBelow: u32 = 0;
let nullsFlag: u8 = 0;

export function setShortFormat(statisticsRows: u32, hasNulls: u32): void {
  rowsBelow = statisticsRows;
  nullsFlag = <u8>hasNulls;
}

/**
 * Rows of series one behind the other: ids and ends of rows (u32 each) per series, times per row,
 * and `SHORT_COLUMN`s.
 */
export function setShortRows(
  idsAt: usize,
  endsAt: usize,
  timesAt: usize,
  columnsAt: usize,
  count: u32,
): void {
  ids = idsAt;
  ends = endsAt;
  times = timesAt;
  columns = columnsAt;
  columnCount = count;
}

let blockBytes: usize = 0;
let entryBytes: usize = 0;
let minTime: i64 = 0;
let maxTime: i64 = 0;

// What the last call of `writeShortSeries` wrote.
export function shortBlockBytes(): usize {
  return blockBytes;
}
export function shortEntryBytes(): usize {
  return entryBytes;
}
export function shortMinTime(): i64 {
  return minTime;
}
export function shortMaxTime(): i64 {
  return maxTime;
}

/**
 * Writes series [first, end) until `entriesWanted` bytes of entries are exceeded, an output has no
 * room for the next one, or one comes that this is not for: it has too many rows, or its times do
 * not ascend. Returns its index.
 * `previousId` is that of the series before.
 */
export function writeShortSeries(
  first: u32,
  end: u32,
  previousId: u32,
  blocks: usize,
  blocksRoom: usize,
  entries: usize,
  entriesRoom: usize,
  entriesWanted: i32,
): u32 {
  const written = scratch(AREA_WRITTEN_COLUMNS, <usize>columnCount * offsetof<WrittenColumn>());
  const dense = scratch(AREA_DENSE, <usize>rowsBelow * 8);
  let out = blocks;
  let entry = entries;
  minTime = i64.MAX_VALUE;
  maxTime = i64.MIN_VALUE;
  let series = first;
  if (written === 0 || dense === 0) series = end;
  const entryBound = ENTRY_BOUND + <usize>columnCount * COLUMN_BOUND;
  let row: u32 = first === 0 ? 0 : load<u32>(ends + <usize>(first - 1) * 4);
  for (; series < end; series++) {
    const rowEnd = load<u32>(ends + <usize>series * 4);
    const rows = rowEnd - row;
    if (rows >= rowsBelow || !ascends(row, rows)) break;
    const bound = (blockBound(rows) + CHECKSUM_BYTES) * (<usize>columnCount * 2 + 1);
    if (<i32>(entry - entries) > entriesWanted) break;
    if (out + bound > blocks + blocksRoom || entry + entryBound > entries + entriesRoom) break;
    const from = load<i64>(times + <usize>row * 8);
    const to = load<i64>(times + <usize>(rowEnd - 1) * 8);
    const timesEnd = writeBlock(BLOCK_INTEGERS, times + <usize>row * 8, rows, out, EFFORT_SMALL);
    const timeBytes = <u32>(timesEnd - out);
    out = withChecksum(out, timesEnd);
    let count: u32 = 0;
    for (let i: u32 = 0; i < columnCount; i++) {
      const column = columns + <usize>i * SHORT_COLUMN_BYTES;
      const record = changetype<WrittenColumn>(written + <usize>count * offsetof<WrittenColumn>());
      const after = writeColumn(column, row, rows, out, dense, record);
      if (after === out) continue;
      out = after;
      count++;
    }
    const id = load<u32>(ids + <usize>series * 4);
    entry = writeVarint(entry, <u64>(id - previousId));
    previousId = id;
    entry = writeEntry(entry, from, to, rows, timeBytes, written, count);
    if (from < minTime) minTime = from;
    if (to > maxTime) maxTime = to;
    row = rowEnd;
  }
  blockBytes = out - blocks;
  entryBytes = entry - entries;
  return series;
}

/** Whether times ascend, each above the one before, and their distance is a positive int64. */
@inline
function ascends(first: u32, rows: u32): bool {
  if (rows === 0) return false;
  const at = times + <usize>first * 8;
  for (let i: usize = 1; i < <usize>rows; i++) {
    if (load<i64>(at + i * 8) <= load<i64>(at + i * 8 - 8)) return false;
  }
  return load<i64>(at + <usize>(rows - 1) * 8) - load<i64>(at) >= 0;
}

@inline
function withChecksum(from: usize, to: usize): usize {
  store<u32>(to, crc32c(from, to - from, 0));
  return to + CHECKSUM_BYTES;
}

/** The values of some rows, and which rows have one; `out` itself when none has. */
function writeColumn(
  column: usize,
  first: u32,
  rows: u32,
  out: usize,
  dense: usize,
  written: WrittenColumn,
): usize {
  const kind = load<u32>(column, SHORT_COLUMN_KIND);
  const validAt = <usize>load<u32>(column, SHORT_COLUMN_VALID);
  const width: usize = kind === BLOCK_BITS ? 1 : 8;
  let values = <usize>load<u32>(column, SHORT_COLUMN_VALUES) + <usize>first * width;
  let count = rows;
  let at = out;
  written.validBytes = 0;
  if (validAt !== 0) {
    const valid = validAt + <usize>first;
    count = 0;
    for (let i: usize = 0; i < <usize>rows; i++) {
      if (load<u8>(valid + i) === 0) continue;
      memory.copy(dense + <usize>count * width, values + i * width, width);
      count++;
    }
    if (count === 0) return out;
    if (count < rows) {
      values = dense;
      at = writeBlock(BLOCK_BITS, valid, rows, out, EFFORT_SMALL);
      written.validBytes = <u32>(at - out);
    }
  }
  const end = writeBlock(kind, values, count, at, EFFORT_SMALL);
  written.field = load<u32>(column, SHORT_COLUMN_FIELD);
  written.count = count;
  written.valueBytes = <u32>(end - at);
  return withChecksum(out, end);
}

/** The one chunk of a series. */
function writeEntry(
  entry: usize,
  from: i64,
  to: i64,
  rows: u32,
  timeBytes: u32,
  written: usize,
  count: u32,
): usize {
  let out = writeVarint(entry, 1);
  store<i64>(out, from);
  out = writeVarint(out + 8, zigzag(to - from));
  out = writeVarint(out, <u64>rows);
  out = writeVarint(out, <u64>timeBytes);
  out = writeVarint(out, <u64>count);
  for (let i: u32 = 0; i < count; i++) {
    const column = changetype<WrittenColumn>(written + <usize>i * offsetof<WrittenColumn>());
    const hasNulls = column.validBytes > 0;
    out = writeVarint(out, <u64>column.field);
    store<u8>(out++, hasNulls ? nullsFlag : 0);
    if (hasNulls) {
      out = writeVarint(out, <u64>column.count);
      out = writeVarint(out, <u64>column.validBytes);
    }
    out = writeVarint(out, <u64>column.valueBytes);
  }
  return out;
}
