// Numbers the names of measurements and of their fields. Names are never removed. Scope 0 has
// measurements (with the escapes of series keys); scope m + 1 has the fields of measurement m
// (without escapes).
import { AREA_SCOPED_NAME, NO_ID } from './abi.gen';
import { allocate, Arena } from './arena';
import { addEntry, Dictionary, entryBytes, entryLength, findEntry } from './dictionary';
import { scratch } from './memory';

/** An entry of the dictionary is the scope, u32, and the name. */
const SCOPE_BYTES: usize = 4;
/** A list has the address of its entries, their number and its capacity, u32 each. */
const LIST_BYTES: usize = 12;
const FIRST_CAPACITY: u32 = 4;
export const NO_NAME: u32 = NO_ID;

const dictionaryRecord: usize = memory.data(128, 8);
// Of the lists, which keep what they have outgrown: less than they hold.
const arenaRecord: usize = memory.data(64, 8);
/** The number of each name in its scope. */
const numbers: usize = memory.data(12, 8);
/** Each measurement: its name, u32, and the list of the names of its fields. */
const MEASUREMENT_BYTES: usize = 4 + LIST_BYTES;
const measurements: usize = memory.data(12, 8);

@inline
function dictionary(): Dictionary {
  return changetype<Dictionary>(dictionaryRecord);
}

@inline
function countOf(list: usize): u32 {
  return load<u32>(list, 4);
}

@inline
function measurementAt(measurement: u32): usize {
  return <usize>load<u32>(measurements) + <usize>measurement * MEASUREMENT_BYTES;
}

@inline
function nameOfField(measurement: u32, field: u32): u32 {
  return load<u32>(<usize>load<u32>(measurementAt(measurement), 4) + <usize>field * 4);
}

/** Adds an entry to a list. Returns its address. */
function append(list: usize, bytes: usize): usize {
  const count = countOf(list);
  if (count === load<u32>(list, 8)) {
    const capacity = max(FIRST_CAPACITY, count * 2);
    const larger = allocate(changetype<Arena>(arenaRecord), <usize>capacity * bytes);
    if (larger === 0) unreachable();
    memory.copy(larger, <usize>load<u32>(list), <usize>count * bytes);
    store<u32>(list, <u32>larger);
    store<u32>(list, capacity, 8);
  }
  store<u32>(list, count + 1, 4);
  return <usize>load<u32>(list) + <usize>count * bytes;
}

function lookup(scope: u32, name: usize, length: u32, adds: bool): u32 {
  const bytes = SCOPE_BYTES + <usize>length;
  const entry = scratch(AREA_SCOPED_NAME, bytes);
  if (entry === 0) unreachable();
  store<u32>(entry, scope);
  memory.copy(entry + SCOPE_BYTES, name, <usize>length);
  const id = adds
    ? addEntry(dictionary(), entry, <u32>bytes)
    : findEntry(dictionary(), entry, <u32>bytes);
  if (id === NO_NAME) {
    if (adds) unreachable();
    return NO_NAME;
  }
  if (id < countOf(numbers)) return load<u32>(<usize>load<u32>(numbers) + <usize>id * 4);
  const list = scope === 0 ? measurements : measurementAt(scope - 1) + 4;
  const number = countOf(list);
  const bytesOfEntry = scope === 0 ? MEASUREMENT_BYTES : 4;
  const added = append(list, bytesOfEntry);
  memory.fill(added, 0, bytesOfEntry);
  store<u32>(added, id);
  store<u32>(append(numbers, 4), number);
  return number;
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
  return countOf(measurements);
}
export function measurementName(measurement: u32): usize {
  return addressOf(load<u32>(measurementAt(measurement)));
}
export function measurementNameLength(measurement: u32): u32 {
  return lengthOf(load<u32>(measurementAt(measurement)));
}
export function fieldCount(measurement: u32): u32 {
  return countOf(measurementAt(measurement) + 4);
}
export function fieldName(measurement: u32, field: u32): usize {
  return addressOf(nameOfField(measurement, field));
}
export function fieldNameLength(measurement: u32, field: u32): u32 {
  return lengthOf(nameOfField(measurement, field));
}

@inline
function addressOf(id: u32): usize {
  return entryBytes(dictionary(), id) + SCOPE_BYTES;
}
@inline
function lengthOf(id: u32): u32 {
  return entryLength(dictionary(), id) - <u32>SCOPE_BYTES;
}
