// Sets of ordinals (series of one measurement): an ascending list, or all except such a list. So
// the set for `host != 'a'` over a million series is a list of one element.
import { firstNotBelow } from '../columns/search.ts';

export type OrdinalSet = {
  /** Strictly ascending. */
  readonly ordinals: Uint32Array;
  /** Whether the set is everything except the list. */
  readonly isExcept: boolean;
};

const EMPTY = new Uint32Array(0);

export const NO_ORDINALS: OrdinalSet = { ordinals: EMPTY, isExcept: false };
export const ALL_ORDINALS: OrdinalSet = { ordinals: EMPTY, isExcept: true };

export function complement({ ordinals, isExcept }: OrdinalSet): OrdinalSet {
  return { ordinals, isExcept: !isExcept };
}

export function intersection(a: OrdinalSet, b: OrdinalSet): OrdinalSet {
  if (a.isExcept && b.isExcept) {
    return { ordinals: unite(a.ordinals, b.ordinals), isExcept: true };
  }
  if (a.isExcept) return { ordinals: pick(b.ordinals, a.ordinals, false), isExcept: false };
  if (b.isExcept) return { ordinals: pick(a.ordinals, b.ordinals, false), isExcept: false };
  const [short, long] =
    a.ordinals.length <= b.ordinals.length ? [a.ordinals, b.ordinals] : [b.ordinals, a.ordinals];
  return { ordinals: pick(short, long, true), isExcept: false };
}

export function union(a: OrdinalSet, b: OrdinalSet): OrdinalSet {
  return complement(intersection(complement(a), complement(b)));
}

/** The members below `count` as a list of the caller's own. */
export function membersBelow({ ordinals, isExcept }: OrdinalSet, count: number): Uint32Array {
  if (!isExcept) return ordinals.slice(0, firstNotBelow(ordinals, count));
  const members = new Uint32Array(count);
  let length = 0;
  let next = 0;
  for (let i = 0; i < count; i++) {
    if (ordinals[next] === i) next++;
    else members[length++] = i;
  }
  return partOf(members, 0, length);
}

/**
 * The elements [from, to) of a list: itself, if these are all. A view takes longer to make than a
 * list of a few elements.
 */
export function partOf(list: Uint32Array, from: number, to: number): Uint32Array {
  return from === 0 && to === list.length ? list : list.subarray(from, to);
}

/** Elements of `list` that are (or are not) in `other`. */
function pick(list: Uint32Array, other: Uint32Array, isIn: boolean): Uint32Array {
  const result = new Uint32Array(list.length);
  let length = 0;
  let at = 0;
  // Binary search takes a few steps per element of `list`; walking takes one pass over `other`.
  const walks = other.length < list.length * WALK_RATIO;
  for (let i = 0; i < list.length; i++) {
    const ordinal = list[i]!;
    if (walks) while (at < other.length && other[at]! < ordinal) at++;
    else at = firstNotBelow(other, ordinal, at);
    if ((other[at] === ordinal) === isIn) result[length++] = ordinal;
  }
  return result.subarray(0, length);
}

const WALK_RATIO = 16;

function unite(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const result = new Uint32Array(a.length + b.length);
  let length = 0;
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = i < a.length ? a[i]! : Number.POSITIVE_INFINITY;
    const right = j < b.length ? b[j]! : Number.POSITIVE_INFINITY;
    result[length++] = Math.min(left, right);
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return result.subarray(0, length);
}
