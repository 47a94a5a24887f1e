// From the text that clients send (tags in their order) to the id of a series, without taking the
// text apart. Three ways, the cheapest first: the text that came after the last one before; the
// series that was created after the last one, whose key is the text with its tags in another order;
// and a cache of texts by their hash, which serves as many series as it has slots.
import { firstBits } from './bytes';
import { allocateRun } from './memory';
import {
  hashKey,
  isForgotten,
  nextSeriesId,
  NO_SERIES,
  seriesExists,
  seriesKey,
  seriesKeyLength,
  truncateTable,
} from './series';
import { sameBytes } from './symbols';

const SPACE: u32 = 32;
const COMMA: i8 = 44;
const BACKSLASH: i8 = 92;

// The cache: direct-mapped, 20 bytes a slot: hash, id, position, length, slot of the series that
// came after this one. Texts lie in a ring; a slot whose text was overwritten is recognised by its
// position, which only ever grows (modulo 2^32).
const CACHE_SLOTS: u32 = 16384;
const SLOT_BYTES: usize = 20;
const RING_BYTES: u32 = 1 << 22;
// Longer texts are looked up in the table each time.
const CACHED_LENGTH_MAX: u32 = 4096;
let cache: usize = 0;
let ring: usize = 0;
let ringAt: u32 = 0;

/**
 * Texts that were added since one was found: more than slots, and the cache is too small for what
 * comes.
 */
let vainTexts: u32 = 0;
/** Whether the line that was looked up last is one that the cache is used for. */
let isCached: bool = true;
/** Lines that were looked up while the cache was too small. */
let uncachedLines: u32 = 0;
const CACHED_SELDOM: u32 = 16;

/** Slot of the series that was found last, 0 when that is not known. */
let lastSlot: usize = 0;
/** The series that was found or created last. */
let lastId: u32 = NO_SERIES;

/** Guesses that were wrong since one was right, of texts and of series. */
let wrongTexts: u32 = 0;
let wrongSeries: u32 = 0;
const WRONG_GUESSES_MAX: u32 = 8;
/** After so many wrong guesses only one line of these is guessed. */
const GUESS_SELDOM: u32 = 16;

/** Bytes of the section that `guessSeries` recognised. */
export let guessedLength: usize = 0;

/** Most tags whose order is remembered. */
const ORDER_MAX: u32 = 64;
/**
 * Which tag of the text is the first, second... of the key, in a section taken apart last; a byte
 * each.
 */
const order: usize = memory.data(64, 16);
/** How many tags that section had; 0 when their order is that of the key. */
let orderCount: u32 = 0;
/** Where the tags of a text begin, with the comma; four bytes each, and the end behind them. */
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

/** The series of `slot` follows the one that was found last. */
@inline
function follow(slot: usize, id: u32): void {
  if (lastSlot !== 0) store<u32>(lastSlot, <u32>slot, 16);
  lastSlot = slot;
  lastId = id;
}

@inline
function isUsable(id: u32): bool {
  return seriesExists(id) && !isForgotten(id);
}

/** Whether two ranges hold the same bytes; sixteen at a time. */
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
 * Id of the series of the line at `text`, if it is the one that came after the last one before, or
 * was created after it: writers mostly name their series in the same order, and comparing bytes is
 * cheaper than finding their end and hashing them. NO_SERIES otherwise.
 */
export function guessSeries(text: usize, end: usize): u32 {
  const id = guessText(text, end);
  return id === NO_SERIES ? guessNext(text, end) : id;
}

@inline
function guessText(text: usize, end: usize): u32 {
  if (lastSlot === 0) return NO_SERIES;
  if (wrongTexts > WRONG_GUESSES_MAX && ++wrongTexts % GUESS_SELDOM !== 0) return NO_SERIES;
  const slot = <usize>load<u32>(lastSlot, 16);
  if (slot !== 0) {
    const length = <usize>load<u32>(slot, 12);
    // The text of a slot ends at the first space that is not escaped, and so do the same bytes
    // here.
    if (text + length < end && load<u8>(text + length) === SPACE && isKept(slot)) {
      const id = load<u32>(slot, 4);
      if (sameText(textOf(slot), text, length) && isUsable(id)) {
        lastSlot = slot;
        lastId = id;
        guessedLength = length;
        wrongTexts = 0;
        vainTexts = 0;
        return id;
      }
    }
  }
  wrongTexts++;
  return NO_SERIES;
}

/**
 * Keys lie in the order of ids, so that of a million series the next one costs no miss of the
 * caches.
 */
function guessNext(text: usize, end: usize): u32 {
  const id = lastId + 1;
  if (id >= nextSeriesId()) return NO_SERIES;
  if (wrongSeries > WRONG_GUESSES_MAX && ++wrongSeries % GUESS_SELDOM !== 0) return NO_SERIES;
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
        // Next time its text is the cheaper guess.
        if (orderCount !== 0 && vainTexts <= CACHE_SLOTS) {
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

/**
 * Whether a text is this key. Texts with backslashes are not compared: where they end is not known.
 */
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
 * Whether a text is this key when its tags are put in the order of those of the section before.
 * Without backslashes every comma begins a tag, in the text as in the key, and a key has neither
 * spaces nor a tag twice then.
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
 * Begins to note the order of tags of a section: that of the key, unless `noteTag` follows for each
 * of them.
 */
@inline
export function noteSection(): void {
  orderCount = 0;
}

/** The next tag of the key is number `place` of the text. */
@inline
export function noteTag(place: u32): void {
  // Sections of more tags are not guessed.
  if (orderCount < ORDER_MAX) store<u8>(order + <usize>orderCount, <u8>place);
  orderCount++;
}

/** Id of a series by the text of its section; NO_SERIES when it is not in the cache. */
export function findCached(text: usize, length: u32, hash: u32): u32 {
  isCached = vainTexts <= CACHE_SLOTS || ++uncachedLines % CACHED_SELDOM === 0;
  if (cache === 0 || !isCached) return NO_SERIES;
  const slot = slotOf(hash);
  if (load<u32>(slot) !== hash || load<u32>(slot, 12) !== length || !isKept(slot)) return NO_SERIES;
  const id = load<u32>(slot, 4);
  if (!sameText(textOf(slot), text, <usize>length) || !isUsable(id)) return NO_SERIES;
  vainTexts = 0;
  follow(slot, id);
  return id;
}

/** Notes the series of a text that `findCached` did not find. */
export function addCached(text: usize, length: u32, hash: u32, id: u32): void {
  if (!isCached || length > CACHED_LENGTH_MAX) {
    lastSlot = 0;
    lastId = id;
    return;
  }
  if (cache === 0) {
    cache = allocateRun(<usize>CACHE_SLOTS * SLOT_BYTES);
    ring = allocateRun(<usize>RING_BYTES);
    if (cache === 0 || ring === 0) {
      cache = 0;
      return;
    }
    memory.fill(cache, 0, <usize>CACHE_SLOTS * SLOT_BYTES);
  }
  vainTexts++;
  const offset = ringAt & (RING_BYTES - 1);
  // A text never wraps around the end of the ring.
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

/** Takes back series from `first` on: texts must not lead to those that get these ids next. */
export function truncateSeries(first: u32): void {
  truncateTable(first);
  if (cache !== 0) memory.fill(cache, 0, <usize>CACHE_SLOTS * SLOT_BYTES);
  lastSlot = 0;
}
