// Selects the series of a measurement that a condition may match. Conditions on tags are evaluated
// here. Conditions on fields count as true: as there is no negation, this selects too many series
// at worst, and the residual condition is evaluated on their rows.
import { compareBytes } from '@tidemark/core';
import { ofSeries, rewritePredicate } from '@tidemark/query';
import type { Predicate } from '@tidemark/query';
import { textMatcher } from '@tidemark/query/regex';

import { sortInSteps, STEP_ELEMENTS } from '../schedule/steps.ts';
import type { MeasurementIndex } from './measurement-index.ts';
import { ALL_ORDINALS, membersBelow } from './ordinal-set.ts';
import type { SeriesIndex } from './series-index.ts';
import { tagCondition } from './tag-condition.ts';

export type MeasurementFilter = {
  readonly measurements?: readonly string[] | undefined;
  readonly measurementPattern?: string | undefined;
  /** Includes measurements whose first rows are still being logged. */
  readonly includesPending?: boolean | undefined;
};

/** Measurements with rows that a filter names, sorted bytewise. Pauses during long loops. */
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
  // The number before the first pause: measurements added later are left out.
  const { length } = candidates;
  for (let i = 0; i < length; i++) {
    if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield undefined;
    const measurement = candidates[i];
    if (measurement === undefined) continue;
    const { liveSeries, seriesCount, removedSeries } = measurement;
    const isPending = filter.includesPending === true && seriesCount > removedSeries;
    if (liveSeries === 0 && !isPending) continue;
    if (matches === undefined || matches(measurement.name)) selected.push(measurement);
  }
  return yield* sortInSteps(selected, (a, b) => compareBytes(a.name, b.name));
}

/**
 * Ordinals of the series that may have matching rows, ascending. They include series without rows.
 * Pauses during long loops.
 */
export function* ordinalsInSteps(
  index: SeriesIndex,
  measurement: MeasurementIndex,
  where: Predicate | undefined,
): Generator<undefined, Uint32Array> {
  // The number before the first pause: series added later are left out.
  const count = measurement.seriesCount;
  if (where === undefined) return membersBelow(ALL_ORDINALS, count);
  const condition = yield* tagCondition({ index, measurement, count }, where);
  return membersBelow(yield* condition.evaluate(), count);
}

/**
 * The part of a condition that the rows of a series have to satisfy; `undefined` when all of them
 * do.
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
 * As `residualCondition`, if it is the same for all selected series; `undefined` when it depends on
 * their tags.
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
  if (where.kind === 'constant' && where.value) return { condition: undefined };
  const { readsTags, readsFields } = readBy(where);
  if (readsTags && readsFields) return undefined;
  // The selected series satisfy a condition that is on tags only.
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
    case 'calculated':
      // With tags, it is another one for each series, whether it reads fields or not.
      return { readsTags: node.tags.length > 0, readsFields: true };
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

function simplify(where: Predicate, tags: ReadonlyMap<string, string>): Predicate {
  return rewritePredicate(where, (part) => {
    if (part.kind === 'tag') {
      return ((tags.get(part.key) ?? '') === part.value) === (part.operator === '=') ? TRUE : FALSE;
    }
    if (part.kind === 'calculated') return ofSeries(part, tags);
    if (part.kind !== 'tag-regex') return part;
    const isMatch = textMatcher(part.pattern)(tags.get(part.key) ?? '');
    return isMatch === (part.operator === '=~') ? TRUE : FALSE;
  });
}
