// Evaluates conditions on tags to sets of series. A comparison is answered by the postings of its
// tag key; a pattern is tested once per distinct value first. Series that postings do not cover,
// because they are new or because the postings would be too large, are looked up in the column.
// Conditions on fields count as true: there is no negation, so this selects too many series at
// worst.
import type { Predicate } from '@tidemark/query';

import { STEP_ELEMENTS } from '../schedule/steps.ts';
import type { MeasurementIndex } from './measurement-index.ts';
import { ALL_ORDINALS, complement, intersection, NO_ORDINALS, union } from './ordinal-set.ts';
import type { OrdinalSet } from './ordinal-set.ts';
import type { TagPostings } from './postings.ts';
import type { SeriesIndex } from './series-index.ts';

/** Series that exist when the selection begins. Others may be added during pauses. */
export type Scope = {
  readonly index: SeriesIndex;
  readonly measurement: MeasurementIndex;
  readonly count: number;
};

export type TagCondition = {
  /** An upper bound of the number of selected series. */
  readonly countBound: number;
  evaluate(): Generator<undefined, OrdinalSet>;
  /** Whether the series with this ordinal is selected. */
  test(ordinal: number): boolean;
};

/** Builds postings that are missing. */
export function* tagCondition(scope: Scope, node: Predicate): Generator<undefined, TagCondition> {
  switch (node.kind) {
    case 'constant':
      return constant(node.value, scope.count);
    case 'field':
    case 'field-regex':
    case 'calculated':
      return constant(true, scope.count);
    case 'tag': {
      const { key, operator, value } = node;
      return yield* equality(scope, { key, values: [value], isNegated: operator === '!=' });
    }
    case 'tag-regex':
      return yield* pattern(scope, node);
    case 'and':
    case 'or': {
      const key = node.kind === 'or' ? comparedKey(node) : undefined;
      if (key !== undefined) {
        return yield* equality(scope, { key, values: [...comparedValues(node)], isNegated: false });
      }
      const left = yield* tagCondition(scope, node.left);
      const right = yield* tagCondition(scope, node.right);
      return node.kind === 'and' ? both(left, right) : either(left, right);
    }
  }
}

/**
 * The key that a condition compares with one or several values; `undefined` for other conditions.
 */
function comparedKey(node: Predicate): string | undefined {
  if (node.kind === 'tag') return node.operator === '=' ? node.key : undefined;
  if (node.kind !== 'or') return undefined;
  const key = comparedKey(node.left);
  return key !== undefined && comparedKey(node.right) === key ? key : undefined;
}

function* comparedValues(node: Predicate): Iterable<string> {
  if (node.kind === 'or') {
    yield* comparedValues(node.left);
    yield* comparedValues(node.right);
  } else if (node.kind === 'tag') yield node.value;
}

function constant(value: boolean, count: number): TagCondition {
  return {
    countBound: value ? count : 0,
    evaluate: () => immediately(value ? ALL_ORDINALS : NO_ORDINALS),
    test: () => value,
  };
}

// oxlint-disable-next-line require-yield -- there is nothing to pause in
function* immediately<T>(value: T): Generator<undefined, T> {
  return value;
}

/**
 * When one side of an AND has this many times fewer series, each of them is tested against the
 * other side.
 */
const TEST_RATIO = 8;

function both(left: TagCondition, right: TagCondition): TagCondition {
  const [few, many] = left.countBound <= right.countBound ? [left, right] : [right, left];
  return {
    countBound: few.countBound,
    evaluate: () => evaluateBoth(few, many),
    test: (ordinal) => few.test(ordinal) && many.test(ordinal),
  };
}

function* evaluateBoth(few: TagCondition, many: TagCondition): Generator<undefined, OrdinalSet> {
  const set = yield* few.evaluate();
  if (set.isExcept || set.ordinals.length * TEST_RATIO > many.countBound) {
    return intersection(set, yield* many.evaluate());
  }
  const ordinals = new Uint32Array(set.ordinals.length);
  let length = 0;
  for (let i = 0; i < set.ordinals.length; i++) {
    if (i % STEP_ELEMENTS === 0) yield undefined;
    if (many.test(set.ordinals[i]!)) ordinals[length++] = set.ordinals[i]!;
  }
  return { ordinals: ordinals.subarray(0, length), isExcept: false };
}

function either(left: TagCondition, right: TagCondition): TagCondition {
  return {
    countBound: left.countBound + right.countBound,
    evaluate: () => evaluateEither(left, right),
    test: (ordinal) => left.test(ordinal) || right.test(ordinal),
  };
}

function* evaluateEither(
  left: TagCondition,
  right: TagCondition,
): Generator<undefined, OrdinalSet> {
  return union(yield* left.evaluate(), yield* right.evaluate());
}

/** Series between two pauses, at a few nanoseconds each. */
const STEP_SERIES = 1 << 16;

/** Stored values (symbol plus one, 0 for none) of one tag key. */
type Stored = {
  readonly postings: TagPostings | undefined;
  /** The stored value of a series. */
  readonly valueOf: (ordinal: number) => number;
};

function* storedValues(
  { index, measurement, count }: Scope,
  key: string,
): Generator<undefined, Stored> {
  const column = measurement.column(key);
  if (column === undefined) return { postings: undefined, valueOf: () => 0 };
  const { symbolCount } = index;
  const postings = yield* index.cache.postings.of(column, { count, symbolCount });
  // Read after the pauses of `of`, because the array may have been replaced by a longer one.
  const { values } = column;
  return { postings, valueOf: (ordinal) => values[ordinal] ?? 0 };
}

/** A key that has, or has not, one of some values. */
type Equality = {
  readonly key: string;
  readonly values: readonly string[];
  readonly isNegated: boolean;
};

function* equality(
  scope: Scope,
  { key, values, isNegated }: Equality,
): Generator<undefined, TagCondition> {
  const { index, count } = scope;
  const wanted = new Set<number>();
  for (const value of values) {
    // A missing tag is stored as 0, and compares as the empty text. A text without a symbol equals
    // no stored value.
    const stored = index.findSymbol(value) + 1;
    if (value === '') wanted.add(0);
    else if (stored > 0) wanted.add(stored);
  }
  if (wanted.size === 0) return constant(isNegated, count);
  const stored = yield* storedValues(scope, key);
  const { postings, valueOf } = stored;
  let bound = count - (postings?.end ?? 0);
  for (const value of wanted) bound += postings?.countBound(value) ?? 0;
  return {
    countBound: isNegated ? count : bound,
    evaluate: () => evaluateEquality(stored, { wanted, count, isNegated }),
    test: (ordinal) => wanted.has(valueOf(ordinal)) !== isNegated,
  };
}

type WantedValues = {
  readonly wanted: ReadonlySet<number>;
  readonly count: number;
  readonly isNegated: boolean;
};

function* evaluateEquality(
  { postings, valueOf }: Stored,
  { wanted, count, isNegated }: WantedValues,
): Generator<undefined, OrdinalSet> {
  const lists = postings === undefined ? [] : Array.from(wanted, (each) => postings.list(each));
  const later: number[] = [];
  for (let i = postings?.end ?? 0; i < count; i++) {
    if (wanted.has(valueOf(i))) later.push(i);
    if (i % STEP_SERIES === 0) yield undefined;
  }
  const ordinals = joined(yield* united(lists, count), later);
  const set: OrdinalSet = { ordinals, isExcept: false };
  return isNegated ? complement(set) : set;
}

/** Ordinals below `count` of lists that have none in common. */
function* united(lists: readonly Uint32Array[], count: number): Generator<undefined, Uint32Array> {
  const [only] = lists;
  if (only === undefined) return new Uint32Array(0);
  if (lists.length === 1) return only;
  let length = 0;
  for (const list of lists) length += list.length;
  if (length <= STEP_ELEMENTS) {
    const ordinals = new Uint32Array(length);
    length = 0;
    for (const list of lists) {
      ordinals.set(list, length);
      length += list.length;
    }
    return ordinals.sort();
  }
  const bits = new Uint32Array((count + 31) >>> 5);
  for (const list of lists) {
    for (const ordinal of list) bits[ordinal >>> 5]! |= 1 << (ordinal & 31);
    yield undefined;
  }
  return ordinalsOf(bits);
}

function joined(listed: Uint32Array, later: readonly number[]): Uint32Array {
  if (later.length === 0) return listed;
  const ordinals = new Uint32Array(listed.length + later.length);
  ordinals.set(listed);
  ordinals.set(later, listed.length);
  return ordinals;
}

function* pattern(
  scope: Scope,
  node: Extract<Predicate, { kind: 'tag-regex' }>,
): Generator<undefined, TagCondition> {
  const { index, count } = scope;
  const isNegated = node.operator === '!~';
  const answers = index.patterns.of(node.pattern);
  const stored = yield* storedValues(scope, node.key);
  return {
    countBound: count,
    evaluate: () => evaluatePattern(stored, answers, { count, isNegated }),
    test: (ordinal) => answers.matches(stored.valueOf(ordinal)) !== isNegated,
  };
}

function* evaluatePattern(
  { postings, valueOf }: Stored,
  answers: ReturnType<SeriesIndex['patterns']['of']>,
  { count, isNegated }: Omit<WantedValues, 'wanted'>,
): Generator<undefined, OrdinalSet> {
  const bits = new Uint32Array((count + 31) >>> 5);
  let tested = 0;
  const values = postings?.values ?? new Uint32Array(0);
  for (let position = 0; position < values.length; position++) {
    if (answers.matches(values[position]!)) postings?.markIn(bits, position);
    if (++tested % STEP_ELEMENTS === 0) yield undefined;
  }
  for (let i = postings?.end ?? 0; i < count; i++) {
    if (answers.matches(valueOf(i))) bits[i >>> 5]! |= 1 << (i & 31);
    if (++tested % STEP_ELEMENTS === 0) yield undefined;
  }
  const set: OrdinalSet = { ordinals: ordinalsOf(bits), isExcept: false };
  return isNegated ? complement(set) : set;
}

function ordinalsOf(bits: Uint32Array): Uint32Array {
  let count = 0;
  for (let word = 0; word < bits.length; word++) {
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) count++;
  }
  const ordinals = new Uint32Array(count);
  let length = 0;
  for (let word = 0; word < bits.length; word++) {
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) {
      ordinals[length++] = word * 32 + (31 - Math.clz32(rest & -rest));
    }
  }
  return ordinals;
}
