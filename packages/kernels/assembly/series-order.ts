// Sorts ids of series by their keys, and ids of tag values by their bytes. Keys and values are
// compared where they are stored.
import { ORDER_SERIES_BY_TAGS, ORDER_SYMBOLS } from './abi.gen';
import { seriesKey, seriesKeyLength, seriesMeasurement } from './series';
import { symbolBytes, symbolLength } from './series-list';
import { measurementNameLength } from './names';

const SPACE: u8 = 0x20;
const COMMA: u8 = 0x2c;
const EQUALS: u8 = 0x3d;
const BACKSLASH: u8 = 0x5c;

/** Number of bytes that the keys of all series of a measurement share. */
function commonPrefix(what: u32, id: u32): usize {
  return what === ORDER_SYMBOLS ? 0 : <usize>measurementNameLength(seriesMeasurement(id));
}

/**
 * Whether the bytes (or the tags) of `a` come before those of `b`. The first `prefix` bytes are the
 * same.
 */
function isBefore(what: u32, a: u32, b: u32, prefix: usize): bool {
  const isSymbol = what === ORDER_SYMBOLS;
  let p = (isSymbol ? symbolBytes(a) : seriesKey(a)) + prefix;
  let q = (isSymbol ? symbolBytes(b) : seriesKey(b)) + prefix;
  const left = <usize>(isSymbol ? symbolLength(a) : seriesKeyLength(a)) - prefix;
  const right = <usize>(isSymbol ? symbolLength(b) : seriesKeyLength(b)) - prefix;
  const byTags = what === ORDER_SERIES_BY_TAGS;
  const pEnd = p + left;
  const qEnd = q + right;
  const shorter = min(left, right);
  const words = p + (shorter & ~7);
  while (p < words) {
    const x = load<u64>(p);
    const y = load<u64>(q);
    if (x !== y) {
      if (!byTags) return bswap<u64>(x) < bswap<u64>(y);
      const at = <usize>ctz<u64>(x ^ y) >> 3;
      return hasSmallerTags(p + at, pEnd, q + at, qEnd);
    }
    p += 8;
    q += 8;
  }
  const end = words + (shorter & 7);
  while (p < end) {
    const x = load<u8>(p);
    const y = load<u8>(q);
    if (x !== y) return byTags ? hasSmallerTags(p, pEnd, q, qEnd) : x < y;
    p++;
    q++;
  }
  return left < right;
}

/**
 * Whether tags come before others if keys and values are compared one after another, as texts
 * without escapes. The first different bytes decide; a key or value that ends there comes first.
 */
function hasSmallerTags(p: usize, pEnd: usize, q: usize, qEnd: usize): bool {
  const x = load<u8>(p);
  const y = load<u8>(q);
  if (load<u8>(p - 1) === BACKSLASH) {
    // A backslash escapes some bytes; before all others it stands for itself.
    const isEscaped = canBeEscaped(x);
    if (isEscaped !== canBeEscaped(y)) return isEscaped;
    if (isEscaped) return x < y;
  }
  if (x === COMMA || x === EQUALS) return true;
  if (y === COMMA || y === EQUALS) return false;
  return letterAt(p, pEnd) < letterAt(q, qEnd);
}

function canBeEscaped(byte: u8): bool {
  return byte === COMMA || byte === EQUALS || byte === SPACE;
}

function letterAt(at: usize, end: usize): u8 {
  const byte = load<u8>(at);
  if (byte !== BACKSLASH || at + 1 >= end) return byte;
  const next = load<u8>(at + 1);
  return canBeEscaped(next) ? next : byte;
}

let fromLeft: u32 = 0;
/** Number of ids that `mergeIds` took from the left. */
export function mergedFromLeft(): u32 {
  return fromLeft;
}

/**
 * Merges two sorted runs of ids into `out`, at most `limit` ids. Returns how many; those not taken
 * from the left (`mergedFromLeft`) came from the right.
 */
export function mergeIds(
  what: u32,
  left: usize,
  leftCount: u32,
  right: usize,
  rightCount: u32,
  out: usize,
  limit: u32,
): u32 {
  const leftEnd = left + <usize>leftCount * 4;
  const rightEnd = right + <usize>rightCount * 4;
  const total = min(leftCount + rightCount, limit);
  const outEnd = out + <usize>total * 4;
  const first = left;
  const prefix = leftCount === 0 ? 0 : commonPrefix(what, load<u32>(left));
  while (out < outEnd) {
    if (
      left === leftEnd ||
      (right < rightEnd && isBefore(what, load<u32>(right), load<u32>(left), prefix))
    ) {
      store<u32>(out, load<u32>(right));
      right += 4;
    } else {
      store<u32>(out, load<u32>(left));
      left += 4;
    }
    out += 4;
  }
  fromLeft = <u32>((left - first) >> 2);
  return total;
}

/** Sorts a few ids in place. */
export function sortIds(what: u32, ids: usize, count: u32): void {
  if (count < 2) return;
  const prefix = commonPrefix(what, load<u32>(ids));
  for (let i: u32 = 1; i < count; i++) {
    const id = load<u32>(ids + <usize>i * 4);
    // Finds the place by bisection, because comparing takes longer than moving.
    let low: u32 = 0;
    let high = i;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(what, id, load<u32>(ids + <usize>middle * 4), prefix)) high = middle;
      else low = middle + 1;
    }
    const at = ids + <usize>low * 4;
    memory.copy(at + 4, at, <usize>(i - low) * 4);
    store<u32>(at, id);
  }
}
