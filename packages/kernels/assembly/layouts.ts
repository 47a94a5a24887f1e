// Layouts: the fields of a measurement's last line, because most lines have the same fields in the
// same order. The names of a line are compared with the layout instead of being looked up. While
// lines are appended directly (direct-lines.ts), a layout also has the columns of the batch.
import { allocatePages, allocateZeros, freePages } from './memory';
import { Column, columnOf, Table } from './table';

/** Fields of a line in a layout; further ones are looked up. */
export const LAYOUT_PLACES: u32 = 64;
const PLACE_BYTES: usize = 16;
// Layouts grow from this number of places: clients that make up names of measurements create a
// layout for each.
const FIRST_PLACES: u32 = 4;
const PLACES_GROWTH: u32 = 4;

/**
 * A line that differs from the layout is read twice. After this many in a batch, lines of the
 * measurement are not tried any more.
 */
const MISSES_MAX: u32 = 8;

@unmanaged
export class Layout {
  /** Number of fields of the last line; at most `LAYOUT_PLACES` are stored. */
  count: u32;
  /** Batch and table to which `Place.column` belongs; batch 0 for none. */
  batch: u32;
  table: usize;
  missBatch: u32;
  misses: u32;
  /** Address of the places. */
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

// Addresses of layouts by measurement, 0 for none.
let layouts: usize = 0;
let capacity: u32 = 0;
let at: usize = 0;
let end: usize = 0;
/** A number per call of `resolve`, to recognise columns that it has visited. */
let lastMark: u32 = 0;

/** The layout of a measurement, created if there is none. */
export function layoutOf(measurement: u32): usize {
  if (measurement >= capacity) {
    let wanted: u32 = capacity === 0 ? 16384 : capacity * 2;
    while (wanted <= measurement) wanted <<= 1;
    const address = allocateZeros(<usize>wanted * 4);
    if (address === 0) unreachable();
    memory.copy(address, layouts, <usize>capacity * 4);
    if (capacity > 0) freePages(layouts, <usize>capacity * 4);
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

/** Memory that is never freed. `bytes` must be a multiple of 8. */
function allocateZeroed(bytes: usize): usize {
  if (at + bytes > end) {
    at = allocatePages(65536);
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

/** Number of existing places; lines have had no fields after them. */
@inline
export function placeCount(layout: usize): u32 {
  return changetype<Layout>(layout).placeCount;
}

/**
 * Copies the places to a larger array. The old one is not freed: it has less than a third of the
 * new size.
 */
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
 * Sets the field at a place, which exists or follows the existing ones, and is below
 * `LAYOUT_PLACES`.
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

/** Sets the number of fields of the last line. */
@inline
export function setCount(layout: usize, count: u32): void {
  const known = changetype<Layout>(layout);
  if (known.count === count) return;
  known.count = count;
  known.batch = 0;
}

/** Counts a line that could not be appended directly. */
export function noteMiss(layout: usize, batch: u32): void {
  const known = changetype<Layout>(layout);
  if (known.missBatch !== batch) {
    known.missBatch = batch;
    known.misses = 0;
  }
  known.misses++;
}

/**
 * Whether lines of this layout can be appended directly to the table: each field has its own
 * column, which has a value in all rows.
 */
export function openLayout(layoutAddress: usize, tableAddress: usize, batch: u32): bool {
  const layout = changetype<Layout>(layoutAddress);
  if (changetype<Table>(tableAddress).isSparse) return false;
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

/** Marks the columns of the layout as having values in all rows below `rows`. */
export function closeLayout(layout: usize, rows: u32): void {
  const last = placeAt(layout, changetype<Layout>(layout).count);
  for (let place = placeAt(layout, 0); place < last; place += PLACE_BYTES) {
    changetype<Column>(changetype<Place>(place).column).nextRow = rows;
  }
}

/**
 * Finds the columns of the places. They stay valid for the batch: only columns of a refused point
 * are removed, and these were new.
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
    // The same field twice: then the last value wins, which needs a staged point.
    if (column.mark === lastMark) return false;
    column.mark = lastMark;
    place.column = address;
  }
  layout.batch = batch;
  layout.table = table;
  return true;
}
