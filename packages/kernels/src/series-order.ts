// Sorts series by their keys, and tag values by their bytes. Ids are sorted in linear memory, where
// the keys and values are: for a million of them this takes 8 MiB instead of a million strings.
import { ID_ORDERS } from './abi.gen.ts';
import type { Kernels } from './loader.ts';
import type { SeriesKeys } from './series-keys.ts';

/** Ids that are sorted at once, in some tenths of a millisecond. */
const RUN_IDS = 256;
/** Ids that are merged between two pauses. */
const STEP_IDS = 4096;

/**
 * Sorts ids of series by their keys, bytewise. The series belong to one measurement, and all have
 * keys. Pauses every millisecond or so. Throws `Unavailable` when linear memory is exhausted.
 */
export function sortedByKey(
  { kernels }: SeriesKeys,
  ids: Uint32Array,
): Generator<undefined, Uint32Array> {
  return sorted(kernels, ID_ORDERS.series, ids);
}

/**
 * As `sortedByKey`, but by the tags: compares keys and values one after another. The order differs
 * if a value has bytes that are smaller than the separators and escapes of a key.
 */
export function sortedByTags(
  { kernels }: SeriesKeys,
  ids: Uint32Array,
): Generator<undefined, Uint32Array> {
  return sorted(kernels, ID_ORDERS.seriesByTags, ids);
}

/** As `sortedByKey`, for symbols, by their texts. */
export function sortedSymbols(
  { kernels }: SeriesKeys,
  ids: Uint32Array,
): Generator<undefined, Uint32Array> {
  return sorted(kernels, ID_ORDERS.symbols, ids);
}

function* sorted(
  kernels: Kernels,
  of: (typeof ID_ORDERS)[keyof typeof ID_ORDERS],
  ids: Uint32Array,
): Generator<undefined, Uint32Array> {
  const { exports } = kernels;
  const sizeBytes = ids.byteLength * 2;
  const address = kernels.allocate(sizeBytes);
  try {
    let from = address;
    let to = address + ids.byteLength;
    new Uint32Array(kernels.buffer, from, ids.length).set(ids);
    for (let at = 0; at < ids.length; at += RUN_IDS) {
      exports.sortIds(of, from + at * 4, Math.min(RUN_IDS, ids.length - at));
      if (at % STEP_IDS === 0) yield undefined;
    }
    for (let width = RUN_IDS; width < ids.length; width *= 2) {
      for (let at = 0; at < ids.length; at += 2 * width) {
        let left = from + at * 4;
        let leftCount = Math.min(width, ids.length - at);
        let right = left + leftCount * 4;
        let rightCount = Math.min(width, ids.length - at - leftCount);
        let out = to + at * 4;
        while (leftCount + rightCount > 0) {
          const count = exports.mergeIds(of, left, leftCount, right, rightCount, out, STEP_IDS);
          const fromLeft = exports.mergedFromLeft();
          out += count * 4;
          left += fromLeft * 4;
          leftCount -= fromLeft;
          right += (count - fromLeft) * 4;
          rightCount -= count - fromLeft;
          if (count === STEP_IDS) yield undefined;
        }
      }
      yield undefined;
      [from, to] = [to, from];
    }
    return new Uint32Array(kernels.buffer, from, ids.length).slice();
  } finally {
    kernels.free(address, sizeBytes);
  }
}
