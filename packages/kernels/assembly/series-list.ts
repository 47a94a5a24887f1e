// Functions for many series at once: splitting their keys into tags, and lists of series as logs
// and index files store them.
import {
  AREA_KEY_PART,
  AREA_LIST_KEY,
  AREA_TAG_WORDS,
  ERROR_TOO_LARGE,
  ERROR_TRUNCATED,
  ERROR_VALUE,
  SPLIT_WORDS,
} from './abi.gen';
import {
  at,
  failed,
  openReader,
  readVarint,
  moveTo,
  remaining,
  writeVarint,
  sameBytes,
} from './bytes';
import {
  addEntry,
  addHashed,
  Dictionary,
  dictionaryBytes,
  entryBytes,
  entryLength,
  exportEntries,
  findEntry,
  hashText,
  loadEntries,
  NO_ENTRY,
  placeEntries,
} from './dictionary';
import { scratch } from './memory';
import {
  addSeries,
  findSeries,
  deleteSeries,
  hashKey,
  isDeleted,
  nextPresent,
  NO_SERIES,
  placeSeries,
  SERIES_MAX,
  seriesExists,
  seriesKey,
  seriesKeyLength,
  seriesMeasurement,
  setNextSeriesId,
} from './series';
import { touchSlots } from './slots';
import { measurementName, measurementNameLength } from './names';

const BACKSLASH: u32 = 92;
const COMMA: u32 = 44;
const EQUALS: u32 = 61;
const SPACE: u32 = 32;

const KEY_BYTES_MAX: u32 = 65535;

/** Words of the largest series: two, and two per tag, which takes three bytes at least. */
const SERIES_WORDS_MAX: u32 = 2 + 2 * (KEY_BYTES_MAX / 3 + 1);

// Dictionaries of tag values and of tag keys, without escapes.
const values: usize = memory.data(offsetof<Dictionary>(), 16);
const keys: usize = memory.data(offsetof<Dictionary>(), 16);

@inline
function tagValues(): Dictionary {
  return changetype<Dictionary>(values);
}
@inline
function tagKeys(): Dictionary {
  return changetype<Dictionary>(keys);
}

export function symbolCount(): u32 {
  return tagValues().count;
}
export function symbolBytes(id: u32): usize {
  return entryBytes(tagValues(), id);
}
export function symbolLength(id: u32): u32 {
  return entryLength(tagValues(), id);
}
export function findSymbol(text: usize, length: u32): u32 {
  return findEntry(tagValues(), text, length);
}
export function dictionaryMemory(): usize {
  return dictionaryBytes(tagValues()) + dictionaryBytes(tagKeys());
}
export function tagKeyBytes(id: u32): usize {
  return entryBytes(tagKeys(), id);
}
export function tagKeyLength(id: u32): u32 {
  return entryLength(tagKeys(), id);
}

@inline
function isEscapable(byte: u32): bool {
  return byte === COMMA || byte === EQUALS || byte === SPACE;
}

let hasEscapes: bool = false;

/**
 * End of the part of a key at `p`: the first `stop` without a backslash before it. Sets
 * `hasEscapes`.
 */
@inline
function partEnd(p: usize, limit: usize, stop: u32): usize {
  hasEscapes = false;
  while (p < limit) {
    const byte = <u32>load<u8>(p);
    if (byte === stop) break;
    if (byte === BACKSLASH && p + 1 < limit && isEscapable(<u32>load<u8>(p + 1))) {
      hasEscapes = true;
      p++;
    }
    p++;
  }
  return p;
}

/** Id of a part of a key that has escapes, which are removed. */
function internEscaped(dictionary: Dictionary, from: usize, to: usize): u32 {
  const text = scratch(AREA_KEY_PART, to - from);
  if (text === 0) return NO_ENTRY;
  let out = text;
  for (let p = from; p < to; p++) {
    if (load<u8>(p) === BACKSLASH && p + 1 < to && isEscapable(<u32>load<u8>(p + 1))) p++;
    store<u8>(out++, load<u8>(p));
  }
  return addEntry(dictionary, text, <u32>(out - text));
}

// Tag keys of the last series by place: usually the next series has the same ones.
const KEYS_KEPT: u32 = 16;
const lastKeys: usize = memory.data(16 * 4, 16);

function internKey(from: usize, to: usize, place: u32): u32 {
  if (hasEscapes) return internEscaped(tagKeys(), from, to);
  const length = <u32>(to - from);
  if (place >= KEYS_KEPT) return addEntry(tagKeys(), from, length);
  const last = load<u32>(lastKeys + ((<usize>place) << 2));
  if (
    last < tagKeys().count &&
    entryLength(tagKeys(), last) === length &&
    sameBytes(entryBytes(tagKeys(), last), from, <usize>length)
  ) {
    return last;
  }
  const id = addEntry(tagKeys(), from, length);
  store<u32>(lastKeys + ((<usize>place) << 2), id);
  return id;
}

// Tag values wait for their ids. Their slots are scattered over a table larger than the processor's
// caches; reading many slots one after the other lets the processor load them at the same time.
@unmanaged
class WaitingValue {
  from: usize;
  length: u32;
  hash: u32;
  /** Where its id is written. */
  place: usize;
}

const WAITING_MAX: u32 = 64;
const waiting: usize = memory.data(64 * offsetof<WaitingValue>(), 16);
let waitingCount: u32 = 0;
/** A sum of slots, so that the compiler does not remove the reads of `touchSlots`. */
let touchedSum: u32 = 0;

@inline
function waitingValue(index: u32): WaitingValue {
  return changetype<WaitingValue>(waiting + <usize>index * offsetof<WaitingValue>());
}

/**
 * Adds a value that waits for its id, to be written to `place`. Returns false when memory is
 * exhausted.
 */
function waitForValue(from: usize, to: usize, place: usize): bool {
  if (hasEscapes) {
    // Ids are assigned in the order of values.
    if (!internWaiting()) return false;
    const id = internEscaped(tagValues(), from, to);
    store<u32>(place, id);
    return id !== NO_ENTRY;
  }
  const value = waitingValue(waitingCount);
  const length = <u32>(to - from);
  value.from = from;
  value.length = length;
  value.hash = hashText(tagValues(), from, length);
  value.place = place;
  return ++waitingCount < WAITING_MAX || internWaiting();
}

/** Writes the ids of all waiting values. Returns false when memory is exhausted. */
function internWaiting(): bool {
  const count = waitingCount;
  waitingCount = 0;
  let touched: u32 = 0;
  for (let i: u32 = 0; i < count; i++) touched += touchSlots(tagValues(), waitingValue(i).hash);
  touchedSum = touched;
  for (let i: u32 = 0; i < count; i++) {
    const value = waitingValue(i);
    // The value stays in the key of its series.
    const id = addHashed(tagValues(), value.from, value.length, value.hash, true);
    if (id === NO_ENTRY) return false;
    store<u32>(value.place, id);
  }
  return true;
}

let splitAt: usize = 0;
/** Address of the words of `splitSeries`. */
export function splitWords(): usize {
  return splitAt;
}

/**
 * Splits the keys of series [first, end). For each series it writes its measurement, the number of
 * its tags, and for each tag the ids of key and value (four bytes each) to `splitWords()`. Returns
 * the number of series, at least one, or an error when memory is exhausted. An id without series
 * has no tags and the measurement NO_ENTRY.
 */
export function splitSeries(first: u32, end: u32): i32 {
  splitAt = scratch(AREA_TAG_WORDS, <usize>SPLIT_WORDS * 4);
  if (splitAt === 0) return ERROR_TOO_LARGE;
  const last = splitAt + <usize>(SPLIT_WORDS - SERIES_WORDS_MAX) * 4;
  waitingCount = 0;
  let out = splitAt;
  let id = first;
  for (; id < end && out <= last; id++) {
    const head = out;
    out += 8;
    if (!seriesExists(id)) {
      store<u32>(head, NO_ENTRY);
      store<u32>(head, 0, 4);
      continue;
    }
    const key = seriesKey(id);
    const limit = key + <usize>seriesKeyLength(id);
    const measurement = seriesMeasurement(id);
    let tags: u32 = 0;
    let p = key + <usize>measurementNameLength(measurement);
    while (p < limit) {
      const keyEnd = partEnd(p + 1, limit, EQUALS);
      const tagKey = internKey(p + 1, keyEnd, tags);
      const valueAt = keyEnd < limit ? keyEnd + 1 : limit;
      const valueEnd = partEnd(valueAt, limit, COMMA);
      if (tagKey === NO_ENTRY || !waitForValue(valueAt, valueEnd, out + 4)) return ERROR_TOO_LARGE;
      store<u32>(out, tagKey);
      out += 8;
      tags++;
      p = valueEnd;
    }
    store<u32>(head, measurement);
    store<u32>(head, tags, 4);
  }
  if (!internWaiting()) return ERROR_TOO_LARGE;
  return <i32>(id - first);
}

/** An upper bound of the size of the list for series [first, end). */
export function seriesListBound(first: u32, end: u32): usize {
  let bytes: usize = 0;
  for (let id = first; id < end; id++) bytes += 16 + <usize>seriesKeyLength(id);
  return bytes;
}

let listed: u32 = 0;
/** Number of entries in the list of `encodeSeriesList`. */
export function listedEntries(): u32 {
  return listed;
}

/** Whether a list has an entry for the series of this id. */
@inline
function isListed(id: u32, leavesDeleted: bool): bool {
  return seriesExists(id) && !(leavesDeleted && isDeleted(id));
}

/**
 * Writes a list of ids [first, end) to `dst`. An entry is a series: the id of its measurement (from
 * `ids`, four bytes each, by number of the measurement), then length and bytes of its key without
 * the measurement. Or it is a gap: NO_ENTRY and the number of ids without series. Returns the size.
 */
export function encodeSeriesList(
  first: u32,
  end: u32,
  ids: usize,
  dst: usize,
  leavesDeleted: bool,
): usize {
  let out = dst;
  let id = first;
  listed = 0;
  while (id < end) {
    listed++;
    if (!isListed(id, leavesDeleted)) {
      const from = id;
      while (id < end && !isListed(id, leavesDeleted)) {
        id = seriesExists(id) ? id + 1 : nextPresent(id, end);
      }
      out = writeVarint(out, <u64>NO_ENTRY);
      out = writeVarint(out, <u64>(id - from));
      continue;
    }
    const measurement = seriesMeasurement(id);
    const prefix = <usize>measurementNameLength(measurement);
    const length = <usize>seriesKeyLength(id) - prefix;
    out = writeVarint(out, <u64>load<u32>(ids + <usize>measurement * 4));
    out = writeVarint(out, <u64>length);
    memory.copy(out, seriesKey(id) + prefix, length);
    out += length;
    id++;
  }
  return out - dst;
}

/**
 * Adds the series of a list with `count` entries, whose first id is `firstId`. `numbers` has the
 * number of each measurement by its id in the list, four bytes each, `measurementCount` of them.
 * Series below `knownBelow` are skipped. A key that exists is found under its new id afterwards:
 * the older series was deleted before the newer was created. Returns 0 or an error.
 */
export function insertSeriesList(
  src: usize,
  bytes: usize,
  count: u32,
  firstId: u32,
  knownBelow: u32,
  numbers: usize,
  measurementCount: u32,
): i32 {
  openReader(src, bytes);
  const key = scratch(AREA_LIST_KEY, <usize>KEY_BYTES_MAX + 64);
  if (key === 0) return ERROR_TOO_LARGE;
  let prefixOf = NO_ENTRY;
  let prefix: usize = 0;
  let id = firstId;
  for (let i: u32 = 0; i < count; i++) {
    const owner = readVarint();
    const length = readVarint();
    if (failed) return ERROR_TRUNCATED;
    if (owner === <u64>NO_ENTRY) {
      if (length > <u64>(SERIES_MAX - id)) return ERROR_VALUE;
      id += <u32>length;
      continue;
    }
    if (<u64>remaining() < length) return ERROR_TRUNCATED;
    const tags = at;
    moveTo(at + <usize>length);
    if (id++ < knownBelow) continue;
    if (owner >= <u64>measurementCount) return ERROR_VALUE;
    const measurement = load<u32>(numbers + <usize>owner * 4);
    if (measurement !== prefixOf) {
      prefixOf = measurement;
      prefix = <usize>measurementNameLength(measurement);
      memory.copy(key, measurementName(measurement), prefix);
    }
    const size = prefix + <usize>length;
    if (size === 0 || size > <usize>KEY_BYTES_MAX) return ERROR_VALUE;
    memory.copy(key + prefix, tags, <usize>length);
    const hash = hashKey(key, size);
    const older = findSeries(key, <u32>size, hash);
    if (older !== NO_SERIES) deleteSeries(older);
    if (!addSeries(key, <u32>size, hash, measurement, id - 1)) return ERROR_TOO_LARGE;
  }
  setNextSeriesId(id);
  return 0;
}

/** The dictionary of a kind: 0 for tag values, 1 for tag keys. */
@inline
function dictionaryOf(which: u32): Dictionary {
  return which === 0 ? tagValues() : tagKeys();
}
export function dictionaryCount(which: u32): u32 {
  return dictionaryOf(which).count;
}
export function exportDictionary(which: u32, first: u32, end: u32, dst: usize, room: usize): u32 {
  return exportEntries(dictionaryOf(which), first, end, dst, room);
}
export function loadDictionary(which: u32, src: usize, bytes: usize, count: u32): i32 {
  return loadEntries(dictionaryOf(which), src, bytes, count);
}

/** Puts up to `count` loaded entries into hash tables. Returns whether more are left. */
export function placeLoaded(count: u32): bool {
  if (placeSeries(count) > 0) return true;
  return placeEntries(tagValues(), count) > 0 || placeEntries(tagKeys(), count) > 0;
}
