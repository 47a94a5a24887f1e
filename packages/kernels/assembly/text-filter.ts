// Filters that tell which parts of words occur in the texts of a frame, so that a search skips
// frames. Format and the choice of grams: docs/formats/encodings.md, "Strings".

/** Most bytes of a filter. */
export const FILTER_BYTES_MAX: usize = 1024;
const FILTER_BYTES_MIN: usize = 8;
const BITS_MAX: u32 = 8192;
/** With more bits set, a filter skips nothing. */
const BITS_SET_MAX: u32 = 6144;
/** A filter has so many bits for each that is set. */
const BITS_PER_SET: u32 = 3;

const bits: usize = memory.data(1024, 16);

// Grams of the text that is looked for: more make hardly a difference.
const WANTED_MAX: u32 = 256;
const wanted: usize = memory.data(256 * 4, 16);
let wantedCount: u32 = 0;

/** Two numbers of thirteen bits. */
@inline
function hashOf(gram: u32): u32 {
  return <u32>((<u64>gram * 0x9e3779b97f4a7c15) >> 38);
}

@inline
function isLetter(byte: u32): bool {
  return byte >= 0x80 || (byte | 0x20) - 0x61 < 26;
}

@inline
function setBit(index: u32): void {
  const place = bits + <usize>(index >>> 3);
  store<u8>(place, load<u8>(place) | ((<u8>1) << (<u8>(index & 7))));
}

/** Adds the grams of a text to the filter that is being made, or to those that are wanted. */
function addGrams(text: usize, length: usize, isWanted: bool): void {
  let letters: u32 = 0;
  let word: u32 = 0;
  // Whether something is known to stand before the word.
  let isBehind = false;
  const end = text + length;
  for (let place = text; place < end; place++) {
    const byte = <u32>load<u8>(place);
    if (isLetter(byte)) letters++;
    else {
      letters = 0;
      if (byte - 0x30 >= 10) {
        word = 0;
        isBehind = true;
        continue;
      }
    }
    word++;
    if (letters < 4 && (word !== 4 || !isBehind)) continue;
    const hash = hashOf(load<u32>(place - 3));
    if (isWanted) {
      if (wantedCount === WANTED_MAX) return;
      store<u32>(wanted + <usize>wantedCount * 4, hash);
      wantedCount++;
    } else {
      setBit(hash & (BITS_MAX - 1));
      setBit(hash >>> 13);
    }
  }
}

/**
 * Writes the filter of `count` texts, which lie one after another at `texts`, and whose lengths are
 * at `lengths` (i64 each). Returns its size.
 */
export function writeFilter(texts: usize, lengths: usize, count: u32, dst: usize): usize {
  memory.fill(bits, 0, FILTER_BYTES_MAX);
  for (let i: u32 = 0; i < count; i++) {
    const length = <usize>load<u64>(lengths + <usize>i * 8);
    addGrams(texts, length, false);
    texts += length;
  }
  let set: u32 = 0;
  for (let i: usize = 0; i < FILTER_BYTES_MAX; i += 8) set += <u32>popcnt(load<u64>(bits + i));
  if (set > BITS_SET_MAX) return 0;
  let size = FILTER_BYTES_MAX;
  while (size > FILTER_BYTES_MIN && <u32>size * 4 >= set * BITS_PER_SET) {
    size >>= 1;
    for (let i: usize = 0; i < size; i += 8) {
      store<u64>(bits + i, load<u64>(bits + i) | load<u64>(bits + size + i));
    }
  }
  memory.copy(dst, bits, size);
  return size;
}

/** Whether a filter may have this size. */
export function isFilterSize(bytes: u64): bool {
  if (bytes === 0) return true;
  return bytes >= <u64>FILTER_BYTES_MIN && bytes <= <u64>FILTER_BYTES_MAX && popcnt(bytes) === 1;
}

/** Prepares `mayContain` for a text. */
export function lookFor(text: usize, length: usize): void {
  wantedCount = 0;
  addGrams(text, length, true);
}

@inline
function hasBit(filter: usize, index: u32): bool {
  return ((load<u8>(filter + <usize>(index >>> 3)) >>> (index & 7)) & 1) !== 0;
}

/** Whether a text of the frame with this filter may contain that of `lookFor`. */
export function mayContain(filter: usize, bytes: usize): bool {
  if (bytes === 0) return true;
  const mask = <u32>bytes * 8 - 1;
  for (let i: u32 = 0; i < wantedCount; i++) {
    const hash = load<u32>(wanted + <usize>i * 4);
    if (!hasBit(filter, hash & mask) || !hasBit(filter, (hash >>> 13) & mask)) return false;
  }
  return true;
}
