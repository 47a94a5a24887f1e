// Which series of a measurement a condition selects. Tag leaves are evaluated once per distinct
// value; field leaves count as true here (conditions have no negation, so this selects a superset)
// and stay as the residual condition.
import { compareBytes } from '@tidemark/core';
import type { Predicate } from '@tidemark/query';
import { textMatcher } from '@tidemark/query/regex';

import { finish, sortInSteps, STEP_ELEMENTS } from '../schedule/steps.ts';
import type { MeasurementIndex } from './measurement-index.ts';
import { ALL_ORDINALS, membersBelow } from './ordinal-set.ts';
import type { SeriesIndex } from './series-index.ts';
import { tagCondition } from './tag-condition.ts';

export type MeasurementFilter = {
  readonly measurements?: readonly string[] | undefined;
  readonly measurementPattern?: string | undefined;
};

/** Measurements that the filter names, sorted bytewise. Live ones only. */
export function selectMeasurements(
  index: SeriesIndex,
  filter: MeasurementFilter,
): MeasurementIndex[] {
  return finish(measurementsInSteps(index, filter));
}

/** As `selectMeasurements`, pausing where there are many. */
export function* measurementsInSteps(
  index: SeriesIndex,
  filter: MeasurementFilter,
): Generator<undefined, MeasurementIndex[]> {
  const matches =
    filter.measurementPattern === undefined ? undefined : textMatcher(filter.measurementPattern);
  const candidates =
    filter.measurements === undefined
      ? index.measurements
      : [...new Set(filter.measurements)].map((name) => index.measurement(name));
  const selected: MeasurementIndex[] = [];
  // Measurements that come while this pauses are left out.
  const { length } = candidates;
  for (let i = 0; i < length; i++) {
    if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield undefined;
    const measurement = candidates[i];
    if (measurement === undefined || measurement.liveSeries === 0) continue;
    if (matches === undefined || matches(measurement.name)) selected.push(measurement);
  }
  return yield* sortInSteps(selected, (a, b) => compareBytes(a.name, b.name));
}

/** Ordinals of the series that may hold matching rows, ascending. Dead series are included. */
export function selectOrdinals(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate | undefined,
): Uint32Array {
  return finish(ordinalsInSteps(index, measurement, where));
}

/** As `selectOrdinals`, pausing where much is looked at. */
export function* ordinalsInSteps(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate | undefined,
): Generator<undefined, Uint32Array> {
  // Series that come while the selection pauses are left out.
  const count = measurement.seriesCount;
  if (where === undefined) return membersBelow(ALL_ORDINALS, count);
  const condition = yield* tagCondition({ index, measurement, count }, where);
  return membersBelow(yield* condition.evaluate(), count);
}

/**
 * What is left of the condition for the rows of one series; `undefined` when it holds for all of
 * them.
 */
export function residualCondition(
  where: Predicate | undefined,
  tags: ReadonlyMap<string, string>,
): Predicate | undefined {
  if (where === undefined) return undefined;
  const rest = simplify(where, tags);
  return rest.kind === 'constant' && rest.value ? undefined : rest;
}

/**
 * What is left of the condition for the rows of every selected series alike; `undefined` where that
 * depends on their tags.
 */
export function commonResidual(
  where: Predicate | undefined,
): { readonly condition: Predicate | undefined } | undefined {
  if (where === undefined) return { condition: undefined };
  if (where.kind === 'and') {
    const left = commonResidual(where.left);
    const right = commonResidual(where.right);
    if (left === undefined || right === undefined) return undefined;
    if (left.condition === undefined || right.condition === undefined) {
      return { condition: left.condition ?? right.condition };
    }
    return { condition: { kind: 'and', left: left.condition, right: right.condition } };
  }
  const { readsTags, readsFields } = readBy(where);
  if (readsTags && readsFields) return undefined;
  // The series that are selected satisfy conditions on tags.
  return { condition: readsTags ? undefined : where };
}

function readBy(node: Predicate): { readonly readsTags: boolean; readonly readsFields: boolean } {
  switch (node.kind) {
    case 'constant':
      return { readsTags: false, readsFields: false };
    case 'tag':
    case 'tag-regex':
      return { readsTags: true, readsFields: false };
    case 'field':
    case 'field-regex':
      return { readsTags: false, readsFields: true };
    case 'and':
    case 'or': {
      const left = readBy(node.left);
      const right = readBy(node.right);
      return {
        readsTags: left.readsTags || right.readsTags,
        readsFields: left.readsFields || right.readsFields,
      };
    }
  }
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
      const isMatch = textMatcher(node.pattern)(tags.get(node.key) ?? '');
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
