// What the last line of a measurement looked like: most lines name the same fields in the same
// order. A line is compared with it, name by name, instead of looking names up; while rows are
// appended directly (direct-lines.ts) it also knows the columns of the running batch.
import { allocateRun, freeRun } from './memory';
import { Column, columnOf, Table } from './table';

/** Fields of a line that are remembered; those behind them are looked up each time. */
export const LAYOUT_PLACES: u32 = 64;
const PLACE_BYTES: usize = 16;
// Places are made as fields come: whoever makes up names of measurements gets a layout for each of
// them.
const FIRST_PLACES: u32 = 4;
const PLACES_GROWTH: u32 = 4;

/**
 * A line that is not as the last one costs its scan twice: after this many in one batch nobody
 * tries any more.
 */
const MISSES_MAX: u32 = 8;

@unmanaged
export class Layout {
  /** Fields of the last line; more than `LAYOUT_PLACES` are not remembered. */
  count: u32;
  /** Batch and table for which `Place.column` holds; batch 0 for none. */
  batch: u32;
  table: usize;
  missBatch: u32;
  misses: u32;
  /** Address of the places that there are. */
  places: usize;
  placeCount: u32;
}

@unmanaged
export class Place {
  name: usize;
  /** 0 where no line has had a field. */
  nameLength: u32;
  field: u32;
  column: usize;
}

// Measurement -> address of its layout, 0 for none.
let layouts: usize = 0;
let capacity: u32 = 0;
let at: usize = 0;
let end: usize = 0;
/** Tells the columns of one call of `resolve` from those of others. */
let lastMark: u32 = 0;

/** The layout of a measurement, made when it is new. */
export function layoutOf(measurement: u32): usize {
  if (measurement >= capacity) {
    let wanted: u32 = capacity === 0 ? 16384 : capacity * 2;
    while (wanted <= measurement) wanted <<= 1;
    const address = allocateRun(<usize>wanted * 4);
    if (address === 0) unreachable();
    memory.copy(address, layouts, <usize>capacity * 4);
    memory.fill(address + <usize>capacity * 4, 0, <usize>(wanted - capacity) * 4);
    if (capacity > 0) freeRun(layouts, <usize>capacity * 4);
    layouts = address;
    capacity = wanted;
  }
  const entry = layouts + <usize>measurement * 4;
  let layout = <usize>load<u32>(entry);
  if (layout === 0) {
    layout = allocateZeroed((offsetof<Layout>() + 7) & ~7);
    store<u32>(entry, <u32>layout);
  }
  return layout;
}

/** Bytes that are kept for ever; a multiple of 8 is wanted. */
function allocateZeroed(bytes: usize): usize {
  if (at + bytes > end) {
    at = allocateRun(65536);
    if (at === 0) unreachable();
    end = at + 65536;
  }
  const address = at;
  at += bytes;
  memory.fill(address, 0, bytes);
  return address;
}

@inline
export function placeAt(layout: usize, index: u32): usize {
  return changetype<Layout>(layout).places + <usize>index * PLACE_BYTES;
}

/** Places that can be read; all others have had no field yet. */
@inline
export function placeCount(layout: usize): u32 {
  return changetype<Layout>(layout).placeCount;
}

/** Those that there were are abandoned: they are less than a third of what follows them. */
function growPlaces(layoutAddress: usize): void {
  const layout = changetype<Layout>(layoutAddress);
  const known = layout.placeCount;
  const wanted: u32 = known === 0 ? FIRST_PLACES : known * PLACES_GROWTH;
  const address = allocateZeroed(<usize>wanted * PLACE_BYTES);
  memory.copy(address, layout.places, <usize>known * PLACE_BYTES);
  layout.places = address;
  layout.placeCount = wanted;
}

@inline
export function nextPlace(place: usize): usize {
  return place + PLACE_BYTES;
}

/**
 * Another field came at a place, below `LAYOUT_PLACES` and right behind those that have had one.
 */
export function setPlace(
  layout: usize,
  index: u32,
  name: usize,
  nameLength: u32,
  field: u32,
): void {
  if (index >= placeCount(layout)) growPlaces(layout);
  const place = changetype<Place>(placeAt(layout, index));
  place.name = name;
  place.nameLength = nameLength;
  place.field = field;
  changetype<Layout>(layout).batch = 0;
}

/** The number of fields of the line that was read last. */
@inline
export function setCount(layout: usize, count: u32): void {
  const known = changetype<Layout>(layout);
  if (known.count === count) return;
  known.count = count;
  known.batch = 0;
}

/** A line that was tried could not be appended directly. */
export function noteMiss(layout: usize, batch: u32): void {
  const known = changetype<Layout>(layout);
  if (known.missBatch !== batch) {
    known.missBatch = batch;
    known.misses = 0;
  }
  known.misses++;
}

/**
 * Whether lines of this layout can go straight to columns of the table: each has one of its own,
 * that has a value in all rows so far.
 */
export function openLayout(layoutAddress: usize, tableAddress: usize, batch: u32): bool {
  const layout = changetype<Layout>(layoutAddress);
  if (layout.missBatch === batch && layout.misses > MISSES_MAX) return false;
  const isResolved = layout.batch === batch && layout.table === tableAddress;
  if (!isResolved && !resolve(layoutAddress, tableAddress, batch)) {
    noteMiss(layoutAddress, batch);
    return false;
  }
  const rows = changetype<Table>(tableAddress).rowCount;
  const last = placeAt(layoutAddress, layout.count);
  for (let place = placeAt(layoutAddress, 0); place < last; place += PLACE_BYTES) {
    const column = changetype<Column>(changetype<Place>(place).column);
    if (column.nextRow === rows && !column.isSparse) continue;
    noteMiss(layoutAddress, batch);
    return false;
  }
  return true;
}

/** All columns of the layout have values up to `rows`. */
export function closeLayout(layout: usize, rows: u32): void {
  const last = placeAt(layout, changetype<Layout>(layout).count);
  for (let place = placeAt(layout, 0); place < last; place += PLACE_BYTES) {
    changetype<Column>(changetype<Place>(place).column).nextRow = rows;
  }
}

/**
 * Finds the columns. Only points that were refused take columns back, so that these stay for the
 * batch.
 */
function resolve(layoutAddress: usize, table: usize, batch: u32): bool {
  const layout = changetype<Layout>(layoutAddress);
  layout.batch = 0;
  if (layout.count === 0 || layout.count > LAYOUT_PLACES) return false;
  lastMark++;
  for (let i: u32 = 0; i < layout.count; i++) {
    const place = changetype<Place>(placeAt(layoutAddress, i));
    const address = columnOf(changetype<Table>(table), place.field);
    if (address === 0) return false;
    const column = changetype<Column>(address);
    // A field that is named twice: the last value wins, which needs the other way.
    if (column.mark === lastMark) return false;
    column.mark = lastMark;
    place.column = address;
  }
  layout.batch = batch;
  layout.table = table;
  return true;
}
