// Finds the id of a series by its text (tags in the order of the client) without splitting the
// text. Three ways, the fastest first: the text that followed the last one the time before; the
// series that was created after the last one, if the text is its key with the tags in another
// order; and a cache of texts by their hash, for as many series as it has slots.
import { firstBits, sameBytes } from './bytes';
import { allocatePages } from './memory';
import {
  hashKey,
  isDeleted,
  nextSeriesId,
  NO_SERIES,
  seriesExists,
  seriesKey,
  seriesKeyLength,
  truncateTable,
} from './series';

const SPACE: u32 = 32;
const COMMA: i8 = 44;
const BACKSLASH: i8 = 92;

// The cache is direct-mapped, with 20 bytes per slot: hash, id, position, length, and the slot of
// the series that followed. Texts are in a ring buffer. A slot whose text was overwritten is
// recognised by its position, which only grows (modulo 2^32).
const CACHE_SLOTS: u32 = 16384;
const SLOT_BYTES: usize = 20;
const RING_BYTES: u32 = 1 << 22;
// Longer texts are always looked up in the table.
const CACHED_LENGTH_MAX: u32 = 4096;
let cache: usize = 0;
let ring: usize = 0;
let ringAt: u32 = 0;

/**
 * Texts added since the last one that was found: if there are more than slots, the cache is too
 * small.
 */
let missedTexts: u32 = 0;
/** Whether the cache is used for the present line. */
let isCached: bool = true;
/** Lines looked up while the cache was too small. */
let uncachedLines: u32 = 0;
const CACHED_INTERVAL: u32 = 16;

/** Slot of the series that was found last; 0 when it has none. */
let lastSlot: usize = 0;
/** The series that was found or created last. */
let lastId: u32 = NO_SERIES;

/** Wrong guesses since the last right one, of texts and of series. */
let wrongTexts: u32 = 0;
let wrongSeries: u32 = 0;
const WRONG_GUESSES_MAX: u32 = 8;
/** After this many wrong guesses, only one in this many lines is guessed. */
const GUESS_INTERVAL: u32 = 16;

/** Length of the section that `guessSeries` recognised. */
export let guessedLength: usize = 0;

/** Longest order of tags that is remembered. */
const ORDER_MAX: u32 = 64;
/**
 * The order of tags in the last section that was split: for each tag of the key, its number in the
 * text, a byte each.
 */
const order: usize = memory.data(64, 16);
/** Number of these tags; 0 when the text had them in the order of the key. */
let orderCount: u32 = 0;
/** Start of each tag in a text, with the comma, and the end of the last one; four bytes each. */
const pieces: usize = memory.data(65 * 4, 16);

@inline
function slotOf(hash: u32): usize {
  return cache + <usize>(hash & (CACHE_SLOTS - 1)) * SLOT_BYTES;
}

@inline
function isKept(slot: usize): bool {
  return ringAt - load<u32>(slot, 8) <= RING_BYTES;
}

@inline
function textOf(slot: usize): usize {
  return ring + <usize>(load<u32>(slot, 8) & (RING_BYTES - 1));
}

/** Records that the series of `slot` followed the last one. */
@inline
function follow(slot: usize, id: u32): void {
  if (lastSlot !== 0) store<u32>(lastSlot, <u32>slot, 16);
  lastSlot = slot;
  lastId = id;
}

@inline
function isUsable(id: u32): bool {
  return seriesExists(id) && !isDeleted(id);
}

/** Whether two ranges have the same bytes; compares sixteen at a time. */
@inline
function sameText(a: usize, b: usize, length: usize): bool {
  if (length < 16) return sameBytes(a, b, length);
  const last = length - 16;
  for (let i: usize = 0; i < last; i += 16) {
    if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  }
  return !v128.any_true(v128.xor(v128.load(a + last), v128.load(b + last)));
}

/**
 * Id of the series of the line at `text`, if it followed the last one the time before, or was
 * created after it; otherwise NO_SERIES. Clients usually write their series in the same order, and
 * comparing bytes is faster than finding their end and hashing them.
 */
export function guessSeries(text: usize, end: usize): u32 {
  const id = guessText(text, end);
  return id === NO_SERIES ? guessNext(text, end) : id;
}

@inline
function guessText(text: usize, end: usize): u32 {
  if (lastSlot === 0) return NO_SERIES;
  if (wrongTexts > WRONG_GUESSES_MAX && ++wrongTexts % GUESS_INTERVAL !== 0) return NO_SERIES;
  const slot = <usize>load<u32>(lastSlot, 16);
  if (slot !== 0) {
    const length = <usize>load<u32>(slot, 12);
    // The slot's text ended at the first space without a backslash, so this one does, too.
    if (text + length < end && load<u8>(text + length) === SPACE && isKept(slot)) {
      const id = load<u32>(slot, 4);
      if (sameText(textOf(slot), text, length) && isUsable(id)) {
        lastSlot = slot;
        lastId = id;
        guessedLength = length;
        wrongTexts = 0;
        missedTexts = 0;
        return id;
      }
    }
  }
  wrongTexts++;
  return NO_SERIES;
}

/**
 * Keys are stored in the order of ids, so that the next one of a million is in the processor's
 * caches.
 */
function guessNext(text: usize, end: usize): u32 {
  const id = lastId + 1;
  if (id >= nextSeriesId()) return NO_SERIES;
  if (wrongSeries > WRONG_GUESSES_MAX && ++wrongSeries % GUESS_INTERVAL !== 0) return NO_SERIES;
  if (isUsable(id)) {
    const length = seriesKeyLength(id);
    const behind = text + <usize>length;
    if (length <= CACHED_LENGTH_MAX && behind < end && load<u8>(behind) === SPACE) {
      const key = seriesKey(id);
      const isSame =
        orderCount === 0
          ? isPlainKey(text, key, <usize>length)
          : orderCount <= ORDER_MAX && isKeyInOrder(text, key, <usize>length);
      if (isSame) {
        lastId = id;
        lastSlot = 0;
        guessedLength = <usize>length;
        wrongSeries = 0;
        // Next time, guessing its text is faster.
        if (orderCount !== 0 && missedTexts <= CACHE_SLOTS) {
          isCached = true;
          addCached(text, length, hashKey(text, <usize>length), id);
        }
        return id;
      }
    }
  }
  wrongSeries++;
  return NO_SERIES;
}

/** Whether a text is this key. False for texts with backslashes, whose end is unknown. */
@inline
function isPlainKey(text: usize, key: usize, length: usize): bool {
  const backslashes = i8x16.splat(BACKSLASH);
  let at: usize = 0;
  for (; at + 16 <= length; at += 16) {
    const bytes = v128.load(text + at);
    const others = v128.xor(bytes, v128.load(key + at));
    if (v128.any_true(v128.or(others, i8x16.eq(bytes, backslashes)))) return false;
  }
  const bytes = v128.load(text + at);
  const others = i8x16.ne(bytes, v128.load(key + at));
  const mask = i8x16.bitmask(v128.or(others, i8x16.eq(bytes, backslashes)));
  return (mask & firstBits(length - at)) === 0;
}

/**
 * Whether a text is this key, if its tags are reordered as those of the last section. Without
 * backslashes, every comma begins a tag, in the text and in the key; and a key has no spaces, and
 * no tag twice.
 */
@inline
function isKeyInOrder(text: usize, key: usize, length: usize): bool {
  const backslashes = i8x16.splat(BACKSLASH);
  const commas = i8x16.splat(COMMA);
  let count: u32 = 0;
  for (let at: usize = 0; at < length; at += 16) {
    const bytes = v128.load(text + at);
    const bits = firstBits(length - at);
    if ((i8x16.bitmask(i8x16.eq(bytes, backslashes)) & bits) !== 0) return false;
    let mask = i8x16.bitmask(i8x16.eq(bytes, commas)) & bits;
    while (mask !== 0) {
      if (count === orderCount) return false;
      store<u32>(pieces + ((<usize>count) << 2), <u32>(text + at) + ctz(mask));
      count++;
      mask &= mask - 1;
    }
  }
  if (count !== orderCount) return false;
  store<u32>(pieces + ((<usize>count) << 2), <u32>(text + length));
  const measurementLength = <usize>load<u32>(pieces) - text;
  if (!sameBytes(text, key, measurementLength)) return false;
  let at = key + measurementLength;
  for (let i: u32 = 0; i < count; i++) {
    const piece = pieces + ((<usize>load<u8>(order + <usize>i)) << 2);
    const start = <usize>load<u32>(piece);
    const bytes = <usize>load<u32>(piece, 4) - start;
    if (!sameBytes(start, at, bytes)) return false;
    at += bytes;
  }
  return true;
}

/**
 * Begins to record the order of a section's tags. It is that of the key, unless `noteTag` follows
 * for every tag.
 */
@inline
export function noteSection(): void {
  orderCount = 0;
}

/** Records that the next tag of the key is number `place` in the text. */
@inline
export function noteTag(place: u32): void {
  // Sections with more tags are not guessed.
  if (orderCount < ORDER_MAX) store<u8>(order + <usize>orderCount, <u8>place);
  orderCount++;
}

/** Id of a series by the text of its section; NO_SERIES when it is not in the cache. */
export function findCached(text: usize, length: u32, hash: u32): u32 {
  isCached = missedTexts <= CACHE_SLOTS || ++uncachedLines % CACHED_INTERVAL === 0;
  if (cache === 0 || !isCached) return NO_SERIES;
  const slot = slotOf(hash);
  if (load<u32>(slot) !== hash || load<u32>(slot, 12) !== length || !isKept(slot)) return NO_SERIES;
  const id = load<u32>(slot, 4);
  if (!sameText(textOf(slot), text, <usize>length) || !isUsable(id)) return NO_SERIES;
  missedTexts = 0;
  follow(slot, id);
  return id;
}

/** Adds a text that `findCached` did not find. */
export function addCached(text: usize, length: u32, hash: u32, id: u32): void {
  if (!isCached || length > CACHED_LENGTH_MAX) {
    lastSlot = 0;
    lastId = id;
    return;
  }
  if (cache === 0) {
    cache = allocatePages(<usize>CACHE_SLOTS * SLOT_BYTES);
    ring = allocatePages(<usize>RING_BYTES);
    if (cache === 0 || ring === 0) {
      cache = 0;
      return;
    }
    memory.fill(cache, 0, <usize>CACHE_SLOTS * SLOT_BYTES);
  }
  missedTexts++;
  const offset = ringAt & (RING_BYTES - 1);
  // A text does not wrap around the end of the ring.
  if (offset + length > RING_BYTES) ringAt += RING_BYTES - offset;
  const slot = slotOf(hash);
  store<u32>(slot, hash);
  store<u32>(slot, id, 4);
  store<u32>(slot, ringAt, 8);
  store<u32>(slot, length, 12);
  memory.copy(textOf(slot), text, <usize>length);
  ringAt += length;
  follow(slot, id);
}

/**
 * Removes the series from `first` on, also from the cache, because their ids will be assigned
 * again.
 */
export function truncateSeries(first: u32): void {
  truncateTable(first);
  if (cache !== 0) memory.fill(cache, 0, <usize>CACHE_SLOTS * SLOT_BYTES);
  lastSlot = 0;
}
