// Numbers the names of measurements and of their fields. Names are never removed. Scope 0 has
// measurements (with the escapes of series keys); scope m + 1 has the fields of measurement m
// (without escapes).
import { NO_ID } from './abi.gen';
import { hashBytes } from './hash';
import { allocatePages, freePages } from './memory';

@unmanaged
class Name {
  scope: u32;
  index: u32;
  hash: u32;
  length: u32;
  // The bytes of the name follow.
}

const HEADER: usize = 16;
const CHUNK: usize = 65536;
// A database of a few names touches one page of the machine.
const FIRST_SLOTS: u32 = 1024;
export const NO_NAME: u32 = NO_ID;

let slots: usize = 0; // address of a Name each
let slotCount: u32 = 0;
let used: u32 = 0;
let at: usize = 0;
let end: usize = 0;

// For each measurement: address of its name, number of fields, address of the list of their names,
// capacity; 16 bytes in all.
let measurements: usize = 0;
let measurementCapacity: u32 = 0;
let measurementTotal: u32 = 0;

@inline
function entryOf(measurement: u32): usize {
  return measurements + <usize>measurement * 16;
}

/** Whether two ranges have the same bytes. */
@inline
export function sameBytes(a: usize, b: usize, length: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) {
    if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  }
  if (i === length) return true;
  // May read up to 7 bytes after the end of both (memory.ts keeps slack there); the mask ignores
  // these.
  const mask = ((<u64>1) << (<u64>(length - i) * 8)) - 1;
  return ((load<u64>(a + i) ^ load<u64>(b + i)) & mask) === 0;
}

function grow(): void {
  const oldSlots = slots;
  const oldCount = slotCount;
  slotCount = oldCount === 0 ? FIRST_SLOTS : oldCount * 2;
  slots = allocatePages(<usize>slotCount * 4);
  if (slots === 0) unreachable();
  memory.fill(slots, 0, <usize>slotCount * 4);
  for (let i: u32 = 0; i < oldCount; i++) {
    const address = load<u32>(oldSlots + <usize>i * 4);
    if (address === 0) continue;
    let slot = changetype<Name>(<usize>address).hash & (slotCount - 1);
    while (load<u32>(slots + <usize>slot * 4) !== 0) slot = (slot + 1) & (slotCount - 1);
    store<u32>(slots + <usize>slot * 4, address);
  }
  if (oldCount > 0) freePages(oldSlots, <usize>oldCount * 4);
}

function newName(scope: u32, name: usize, length: u32, hash: u32): Name {
  const size = (HEADER + <usize>length + 7) & ~7;
  if (at + size > end) {
    const chunk = size > CHUNK ? size : CHUNK;
    at = allocatePages(chunk);
    if (at === 0) unreachable();
    end = at + chunk;
  }
  const added = changetype<Name>(at);
  at += size;
  added.scope = scope;
  added.hash = hash;
  added.length = length;
  memory.copy(changetype<usize>(added) + HEADER, name, <usize>length);
  return added;
}

function addMeasurement(added: Name): void {
  if (measurementTotal === measurementCapacity) {
    const capacity = measurementCapacity === 0 ? 4096 : measurementCapacity * 2;
    const address = allocatePages(<usize>capacity * 16);
    if (address === 0) unreachable();
    memory.copy(address, measurements, <usize>measurementTotal * 16);
    if (measurementCapacity > 0) freePages(measurements, <usize>measurementCapacity * 16);
    measurements = address;
    measurementCapacity = capacity;
  }
  added.index = measurementTotal++;
  const entry = entryOf(added.index);
  store<u32>(entry, <u32>changetype<usize>(added));
  store<u32>(entry, 0, 4);
  store<u32>(entry, 0, 8);
  store<u32>(entry, 0, 12);
}

function addField(measurement: u32, added: Name): void {
  const entry = entryOf(measurement);
  const count = load<u32>(entry, 4);
  const capacity = load<u32>(entry, 12);
  if (count === capacity) {
    // Lists of up to 128 fields are stored between the names. Freeing replaced ones would not pay.
    const wanted: u32 = capacity === 0 ? 4 : capacity * 2;
    const bytes = <usize>wanted * 4;
    if (at + bytes > end) {
      const chunk = bytes > CHUNK ? bytes : CHUNK;
      at = allocatePages(chunk);
      if (at === 0) unreachable();
      end = at + chunk;
    }
    memory.copy(at, <usize>load<u32>(entry, 8), <usize>count * 4);
    store<u32>(entry, <u32>at, 8);
    store<u32>(entry, wanted, 12);
    at += bytes;
  }
  store<u32>(<usize>load<u32>(entry, 8) + <usize>count * 4, <u32>changetype<usize>(added));
  added.index = count;
  store<u32>(entry, count + 1, 4);
}

function lookup(scope: u32, name: usize, length: u32, adds: bool): u32 {
  if (used * 2 >= slotCount) grow();
  const hash = <u32>hashBytes(name, <usize>length, <u64>scope);
  const mask = slotCount - 1;
  let slot = hash & mask;
  while (true) {
    const address = <usize>load<u32>(slots + <usize>slot * 4);
    if (address === 0) break;
    const known = changetype<Name>(address);
    if (
      known.hash === hash &&
      known.scope === scope &&
      known.length === length &&
      sameBytes(address + HEADER, name, <usize>length)
    ) {
      return known.index;
    }
    slot = (slot + 1) & mask;
  }
  if (!adds) return NO_NAME;
  const added = newName(scope, name, length, hash);
  store<u32>(slots + <usize>slot * 4, <u32>changetype<usize>(added));
  used++;
  if (scope === 0) addMeasurement(added);
  else addField(scope - 1, added);
  return added.index;
}

/** Number of a measurement, added if it is new. */
export function measurementOf(name: usize, length: u32): u32 {
  return lookup(0, name, length, true);
}

/** Number of a field of the measurement, added if it is new. */
export function fieldOf(measurement: u32, name: usize, length: u32): u32 {
  return lookup(measurement + 1, name, length, true);
}

/** Number of a field, or NO_NAME. */
export function findField(measurement: u32, name: usize, length: u32): u32 {
  return lookup(measurement + 1, name, length, false);
}

export function measurementCount(): u32 {
  return measurementTotal;
}
export function measurementName(measurement: u32): usize {
  return <usize>load<u32>(entryOf(measurement)) + HEADER;
}
export function measurementNameLength(measurement: u32): u32 {
  return changetype<Name>(<usize>load<u32>(entryOf(measurement))).length;
}
export function fieldCount(measurement: u32): u32 {
  return load<u32>(entryOf(measurement), 4);
}

@inline
function nameOfField(measurement: u32, field: u32): usize {
  return <usize>load<u32>(<usize>load<u32>(entryOf(measurement), 8) + <usize>field * 4);
}
export function fieldName(measurement: u32, field: u32): usize {
  return nameOfField(measurement, field) + HEADER;
}
export function fieldNameLength(measurement: u32, field: u32): u32 {
  return changetype<Name>(nameOfField(measurement, field)).length;
}
