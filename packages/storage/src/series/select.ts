// Which series of a measurement a condition selects. Tag leaves are evaluated once per distinct value; field leaves
// count as true here (conditions have no negation, so this selects a superset) and stay as the residual condition.
import { compareBytes } from '@tidemark/core';
import type { Predicate } from '@tidemark/query';

import { finish, STEP_ELEMENTS } from '../read/steps.ts';
import type { MeasurementIndex } from './measurement-index.ts';
import { compilePattern } from './regex.ts';
import type { SeriesIndex } from './series-index.ts';

export type MeasurementFilter = {
  readonly measurements?: readonly string[] | undefined;
  readonly measurementPattern?: string | undefined;
};

/** Measurements that the filter names, sorted bytewise. Live ones only. */
export function selectMeasurements(
  index: SeriesIndex,
  filter: MeasurementFilter,
): MeasurementIndex[] {
  const matches =
    filter.measurementPattern === undefined ? undefined : compilePattern(filter.measurementPattern);
  const candidates =
    filter.measurements === undefined
      ? index.measurements
      : [...new Set(filter.measurements)].map((name) => index.measurement(name));
  return candidates
    .filter((m) => m !== undefined)
    .filter((m) => m.liveSeries > 0 && (matches === undefined || matches(m.name)))
    .sort((a, b) => compareBytes(a.name, b.name));
}

/** Ordinals of the series that may hold matching rows, ascending. Dead series are included. */
export function selectOrdinals(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate | undefined,
): Uint32Array {
  return finish(ordinalsInSteps(index, measurement, where));
}

/** As `selectOrdinals`, pausing where many texts are compared. */
export function* ordinalsInSteps(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate | undefined,
): Generator<undefined, Uint32Array> {
  const count = measurement.seriesCount;
  const scope = { index, measurement, count };
  const mask = where === undefined ? undefined : yield* tagMask(scope, where);
  const ordinals = new Uint32Array(count);
  let selected = 0;
  for (let i = 0; i < count; i++) {
    if (mask === undefined || mask[i] === 1) ordinals[selected++] = i;
  }
  return ordinals.subarray(0, selected);
}

/** What is left of the condition for the rows of one series; `undefined` when it holds for all of them. */
export function residualCondition(
  where: Predicate | undefined,
  tags: ReadonlyMap<string, string>,
): Predicate | undefined {
  if (where === undefined) return undefined;
  const rest = simplify(where, tags);
  return rest.kind === 'constant' && rest.value ? undefined : rest;
}

const TRUE: Predicate = { kind: 'constant', value: true };
const FALSE: Predicate = { kind: 'constant', value: false };

function simplify(node: Predicate, tags: ReadonlyMap<string, string>): Predicate {
  switch (node.kind) {
    case 'constant':
    case 'field':
    case 'field-regex':
      return node;
    case 'tag':
      return ((tags.get(node.key) ?? '') === node.value) === (node.operator === '=') ? TRUE : FALSE;
    case 'tag-regex': {
      const isMatch = patternOf(node.pattern)(tags.get(node.key) ?? '');
      return isMatch === (node.operator === '=~') ? TRUE : FALSE;
    }
    case 'and':
    case 'or': {
      const left = simplify(node.left, tags);
      const right = simplify(node.right, tags);
      const absorbing = node.kind === 'or';
      for (const [side, other] of [
        [left, right],
        [right, left],
      ] as const) {
        if (side.kind === 'constant') return side.value === absorbing ? side : other;
      }
      return { kind: node.kind, left, right };
    }
  }
}

const PATTERN_CACHE_ENTRIES = 256;
const patterns = new Map<string, (text: string) => boolean>();

function patternOf(pattern: string): (text: string) => boolean {
  let test = patterns.get(pattern);
  if (test === undefined) {
    test = compilePattern(pattern);
    if (patterns.size >= PATTERN_CACHE_ENTRIES) patterns.clear();
    patterns.set(pattern, test);
  }
  return test;
}

/** The series that exist when the selection begins; others may come while it pauses. */
type Scope = {
  readonly index: SeriesIndex;
  readonly measurement: MeasurementIndex;
  readonly count: number;
};

/** One byte per ordinal: 1 = selected. `undefined` selects all. */
function* tagMask(scope: Scope, node: Predicate): Generator<undefined, Uint8Array | undefined> {
  switch (node.kind) {
    case 'constant':
      return node.value ? undefined : new Uint8Array(scope.count);
    case 'field':
    case 'field-regex':
      return undefined;
    case 'tag':
      return equalityMask(scope, node);
    case 'tag-regex':
      return yield* regexMask(scope, node);
    case 'and':
    case 'or': {
      const left = yield* tagMask(scope, node.left);
      const right = yield* tagMask(scope, node.right);
      if (left === undefined) return node.kind === 'and' ? right : undefined;
      if (right === undefined) return node.kind === 'and' ? left : undefined;
      if (node.kind === 'and') for (let i = 0; i < left.length; i++) left[i]! &= right[i]!;
      else for (let i = 0; i < left.length; i++) left[i]! |= right[i]!;
      return left;
    }
  }
}

function equalityMask(
  { index, measurement, count }: Scope,
  node: Extract<Predicate, { kind: 'tag' }>,
): Uint8Array {
  const mask = new Uint8Array(count);
  const values = measurement.column(node.key)?.values ?? NO_VALUES;
  // Absent is stored as 0 and compares as the empty text; a text that nobody uses equals nothing.
  const text = node.value === '' ? 0 : index.findText(node.value) + 1;
  const isNever = node.value !== '' && text === 0;
  const onEqual = node.operator === '=' ? 1 : 0;
  const stored = Math.min(values.length, mask.length);
  if (isNever) return mask.fill(1 - onEqual);
  for (let i = 0; i < stored; i++) mask[i] = values[i] === text ? onEqual : 1 - onEqual;
  return mask.fill(text === 0 ? onEqual : 1 - onEqual, stored);
}

function* regexMask(
  { index, measurement, count }: Scope,
  node: Extract<Predicate, { kind: 'tag-regex' }>,
): Generator<undefined, Uint8Array> {
  const mask = new Uint8Array(count);
  const values = measurement.column(node.key)?.values ?? NO_VALUES;
  const test = patternOf(node.pattern);
  const onMatch = node.operator === '=~' ? 1 : 0;
  // 0 = not evaluated yet, 1 = no, 2 = yes; by stored value.
  const memo = new Uint8Array(index.textCount + 1);
  memo[0] = test('') ? 2 : 1;
  const stored = Math.min(values.length, mask.length);
  let tested = 0;
  for (let i = 0; i < stored; i++) {
    const value = values[i]!;
    let known = memo[value]!;
    if (known === 0) {
      known = test(index.text(value - 1)) ? 2 : 1;
      memo[value] = known;
      if (++tested % STEP_ELEMENTS === 0) yield undefined;
    }
    mask[i] = known === 2 ? onMatch : 1 - onMatch;
  }
  return mask.fill(memo[0] === 2 ? onMatch : 1 - onMatch, stored);
}

const NO_VALUES = new Uint32Array(0);
