// The plan cache, for statements that repeat with other literals as parameters
// (`SelectStatement.form`): everything in a plan but its time range and the values in its condition
// is the same, as long as its sources have the same fields and tags.
import { assert, ByteLru } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { fillSlots } from '@tidemark/influxql';
import type { Expression, SelectStatement, Slots } from '@tidemark/influxql';

import { resolveNames } from '../analyse/prepare-select.ts';
import { reportTimes } from '../analyse/report-doubtful.ts';
import type { PreparedSelect } from '../analyse/prepared.ts';
import { loadNames } from '../analyse/source-names.ts';
import type { NamesBySource } from '../analyse/source-names.ts';
import { onlyTimes, splitCondition } from '../analyse/time-range.ts';
import { some } from '../analyse/walk.ts';
import type { Zone } from '../analyse/zone.ts';
import type { QueryContext } from '../context.ts';
import { PLAN_BYTES_MAX, PLAN_CACHE_BYTES } from '../limits.ts';
import type { QueryLimits } from '../limits.ts';
import type { MeasurementSchema } from '../measurement-names.ts';
import type { Steps } from '../operator.ts';
import { physicalPlan } from './physical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { plannedRange } from './plan-select.ts';
import { numberSlots } from './plan-slots.ts';
import { weightOf } from './plan-weight.ts';
import type { SelectPlan } from './select-plan.ts';

/** The last plan of a form, and what it was made of. */
type KnownPlan = {
  readonly plan: PhysicalPlan;
  /** Those of the form that are in the plan. */
  readonly slots: readonly number[];
  /** What the condition says about time. */
  readonly times: Expression | undefined;
  readonly zone: Zone | undefined;
  readonly limits: QueryLimits;
  readonly schemas: readonly MeasurementSchema[];
  /** Whether its analysis had findings; `undefined` when nobody asked for them. */
  readonly hasFindings: boolean | undefined;
};

/** By form. */
const KNOWN = new ByteLru<object, KnownPlan>(PLAN_CACHE_BYTES);

const counters = { tooHeavy: 0, hits: 0, misses: 0 };

type KeptPlanCounters = Readonly<Record<'plans' | 'bytes' | keyof typeof counters, number>>;

/** What the plans of all queries take together, and how many statements had one. */
export function keptPlanCounters(): KeptPlanCounters {
  return { plans: KNOWN.count, bytes: KNOWN.weight, ...counters };
}

/** A plan as it is kept, with the range and the values of a statement of its form. */
export type KeptPlan = {
  readonly plan: PhysicalPlan;
  readonly range: TimeRange;
  /** What is in its slots. */
  readonly values: readonly string[];
};

/** What is known of a statement. */
export type KnownStatement = {
  /** `undefined` when its sources are others than those of the last of its form. */
  readonly kept: KeptPlan | undefined;
  readonly names: NamesBySource;
};

/** What is known of a statement by the last one of its form, if there was one. */
export function* knownPlan(
  statement: SelectStatement,
  context: QueryContext,
): Steps<KnownStatement | undefined> {
  const known = yield* lookUpPlan(statement, context);
  if (known?.kept === undefined) counters.misses++;
  else counters.hits++;
  return known;
}

function* lookUpPlan(
  statement: SelectStatement,
  context: QueryContext,
): Steps<KnownStatement | undefined> {
  const known = statement.form && KNOWN.get(statement.form);
  // Findings are made by the analysis.
  const isSilent = context.onFinding === undefined || known?.hasFindings === false;
  if (known?.limits !== context.limits || !isSilent) return undefined;
  resolveNames(statement, context, 0);
  const { slots = [] } = statement;
  const times = known.times && fillSlots(known.times, slots);
  const { now, onWarning } = context;
  const { range } = splitCondition(times, { now, zone: known.zone, onWarning });
  const names = yield* loadNames(statement, context);
  if (!isOf(known, names, range)) return { kept: undefined, names };
  // Whether a time lacks its unit depends on its value.
  reportTimes(statement, context);
  const { plan } = known;
  const kept = {
    plan,
    range: plannedRange(range, plan.select.interval, now),
    values: known.slots.map((slot) => textIn(slot, slots)),
  };
  return { kept, names };
}

function textIn(slot: number, slots: Slots): string {
  const literal = slots[slot];
  if (literal?.kind === 'regex') return literal.pattern;
  assert(literal?.kind === 'string', 'slots of plans hold strings and patterns');
  return literal.value;
}

/** Whether a plan has these sources. */
function isOf({ schemas }: KnownPlan, names: NamesBySource, range: TimeRange): boolean {
  let at = 0;
  for (const { set, measurements } of names.values()) {
    for (const measurement of measurements) {
      const schema = measurement.schema(set.retentionPolicy, range);
      if (schema !== undefined && schema !== schemas[at++]) return false;
    }
  }
  return at === schemas.length;
}

/** Keeps a plan for the next statement of its form. */
export function keepPlan(
  prepared: PreparedSelect,
  select: SelectPlan,
  { limits, capabilities }: QueryContext,
  hasFindings: boolean | undefined,
): void {
  const { statement, split, zone } = prepared;
  if (statement.form === undefined || !isOfAllTimes(statement)) return;
  const schemas = schemasOf(prepared, split.range);
  if (schemas === undefined) return;
  const { condition, slots } = numberSlots(select.condition);
  const plan = physicalPlan({ ...select, condition }, capabilities);
  const times = statement.condition && onlyTimes(statement.condition);
  const weight = weightOf([plan, times, schemas], PLAN_BYTES_MAX);
  if (weight > PLAN_BYTES_MAX) {
    counters.tooHeavy++;
    KNOWN.delete(statement.form);
    return;
  }
  KNOWN.set(statement.form, { plan, slots, times, zone, limits, schemas, hasFindings }, weight);
}

/** Whether nothing but the range depends on when the statement is run. */
function isOfAllTimes({ dimensions }: SelectStatement): boolean {
  return !dimensions.some((dimension) =>
    some(dimension, (node) => node.kind === 'call' && node.name === 'now'),
  );
}

/** The schemas as their names hold them; `undefined` where there is a subquery. */
function schemasOf(
  { sources }: PreparedSelect,
  range: TimeRange,
): readonly MeasurementSchema[] | undefined {
  const schemas: MeasurementSchema[] = [];
  for (const source of sources) {
    if (source.kind === 'subquery') return undefined;
    const schema = source.names.schema(source.schema.measurement.retentionPolicy, range);
    if (schema !== undefined) schemas.push(schema);
  }
  return schemas;
}
