// The plan cache: prepared statements are kept for all statements of the same shape
// (`SelectStatement.shape`), as long as their sources have the same fields and tags.
import { ByteLru } from '@tidemark/core';
import type { Diagnostic, TimeRange } from '@tidemark/core';
import { selectsOf, some } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import { bindSelect } from '../analyse/bound.ts';
import { prepareSelect, resolveNames } from '../analyse/prepare-select.ts';
import type { PreparedStatement } from '../analyse/prepare-select.ts';
import type { PreparedSelect } from '../analyse/prepared.ts';
import { lacksUnit } from '../analyse/report-doubtful.ts';
import { loadNames } from '../analyse/source-names.ts';
import type { NamesBySource } from '../analyse/source-names.ts';
import type { QueryContext } from '../context.ts';
import { isRanking } from '../functions/registry.ts';
import { PLAN_BYTES_MAX, PLAN_CACHE_BYTES } from '../limits.ts';
import type { QueryLimits } from '../limits.ts';
import type { MeasurementSchema } from '../measurement-names.ts';
import type { Steps } from '../operator.ts';
import { weightOf } from './plan-weight.ts';
import type { SelectPlan } from './select-plan.ts';

/** The cache entry of a shape. */
export type CachedPlan = {
  readonly prepared: PreparedSelect;
  /** The first plan that was made for it; others differ in their bound values. */
  readonly plan: SelectPlan;
  readonly limits: QueryLimits;
  /** The limits that its analysis has checked; empty for most. */
  readonly checkedLimits: string;
  readonly schemas: readonly MeasurementSchema[];
  /**
   * The findings of its analysis; `undefined` if these were not requested, or depend on more than
   * shape and schemas.
   */
  readonly findings: readonly Diagnostic[] | undefined;
};

/** Codes of findings about values of one statement, or about names that are not in its schemas. */
const OWN_FINDINGS = new Set(['IQL_TIME_UNIT', 'IQL_TYPE_OF_VALUE', 'IQL_UNKNOWN_MEASUREMENT']);

/** Keyed by shape. */
const CACHE = new ByteLru<object, CachedPlan>(PLAN_CACHE_BYTES);

const counters = { tooHeavy: 0, hits: 0, misses: 0 };

type PlanCacheCounters = Readonly<Record<'plans' | 'bytes' | keyof typeof counters, number>>;

/** The size of the cached plans of all queries together, and how many statements had one. */
export function planCacheCounters(): PlanCacheCounters {
  return { plans: CACHE.count, bytes: CACHE.weight, ...counters };
}

/** A statement that is prepared and bound. */
export type CachedStatement = PreparedStatement & {
  /** The cache entry of its shape. */
  readonly cached: CachedPlan | undefined;
  /** Caches the plan; absent if there is an entry. */
  readonly store?: ((plan: SelectPlan) => void) | undefined;
};

/** Prepares a statement, or uses the cache entry of its shape, and binds it. */
export function* prepare(
  statement: SelectStatement,
  context: QueryContext,
): Steps<CachedStatement> {
  const found = yield* lookUp(statement, context);
  if (found !== undefined && 'prepared' in found) {
    counters.hits++;
    return found;
  }
  counters.misses++;
  const { onFinding } = context;
  const findings: Diagnostic[] | undefined = onFinding && [];
  const record = (finding: Diagnostic): void => {
    findings?.push(finding);
    onFinding?.(finding);
  };
  const recorded = { ...context, onFinding: onFinding && record };
  const fresh = yield* prepareSelect(statement, recorded, found?.names);
  const store = (plan: SelectPlan): void => {
    storePlan(statement, { ...fresh, plan }, context.limits, findings);
  };
  return { ...fresh, cached: undefined, store };
}

/** Loads the names of its sources if the entry is for others; `undefined` if there is no entry. */
function* lookUp(
  statement: SelectStatement,
  context: QueryContext,
): Steps<(PreparedStatement & { cached: CachedPlan }) | { names: NamesBySource } | undefined> {
  const cached = statement.shape && CACHE.get(statement.shape);
  if (cached?.limits !== context.limits) return undefined;
  const { onFinding } = context;
  const { checkedLimits, findings } = cached;
  // The analysis makes the findings, and checks the limit of `top` and `bottom`.
  if (onFinding !== undefined && (findings === undefined || lacksUnit(statement))) return undefined;
  if (checkedLimits !== '' && checkedLimits !== limitsOfRankings(statement)) return undefined;
  resolveNames(statement, context, 0);
  const { prepared } = cached;
  const bound = bindSelect(statement, prepared, context);
  const names = yield* loadNames(statement, context);
  if (!isOf(cached, names, bound.split.range)) return { names };
  if (onFinding !== undefined) findings?.forEach(onFinding);
  return { prepared, bound, cached };
}

/** Whether a cache entry is for these sources. */
function isOf({ schemas }: CachedPlan, names: NamesBySource, range: TimeRange): boolean {
  let at = 0;
  for (const { set, measurements } of names.values()) {
    for (const measurement of measurements) {
      const schema = measurement.schema(set.retentionPolicy, range);
      if (schema !== undefined && schema !== schemas[at++]) return false;
    }
  }
  return at === schemas.length;
}

/** Caches a prepared statement and its plan, for the next one of its shape. */
function storePlan(
  statement: SelectStatement,
  { prepared, bound, plan }: PreparedStatement & { readonly plan: SelectPlan },
  limits: QueryLimits,
  findings: readonly Diagnostic[] | undefined,
): void {
  const { shape } = statement;
  if (shape === undefined || dependsOnNow(statement)) return;
  const checkedLimits = limitsOfRankings(statement);
  const schemas = [...schemasOf(prepared, bound.split.range)];
  const repeated =
    findings?.some(({ code }) => OWN_FINDINGS.has(code)) === true ? undefined : findings;
  const weight = weightOf([prepared, plan, schemas, repeated], PLAN_BYTES_MAX);
  if (weight > PLAN_BYTES_MAX) {
    counters.tooHeavy++;
    CACHE.delete(shape);
    return;
  }
  CACHE.set(shape, { prepared, plan, limits, checkedLimits, schemas, findings: repeated }, weight);
}

/** Whether more than ranges depends on the time when the statement is run. */
function dependsOnNow(statement: SelectStatement): boolean {
  const dimensions = selectsOf(statement).flatMap((one) => one.dimensions);
  return dimensions.some((dimension) =>
    some(dimension, (node) => node.kind === 'call' && node.name === 'now'),
  );
}

/**
 * The limits of all statements with a function that selects by rank: `top(v, 3)` refuses a smaller
 * one.
 */
function limitsOfRankings(statement: SelectStatement): string {
  const ranked = selectsOf(statement).filter(({ fields }) =>
    fields.some(({ expression }) =>
      some(expression, (node) => node.kind === 'call' && isRanking(node.name)),
    ),
  );
  return ranked.map(({ limit = 0n }) => limit).join();
}

/** The schemas from the sources' names, those of subqueries in their place. */
function* schemasOf({ sources }: PreparedSelect, range: TimeRange): Iterable<MeasurementSchema> {
  for (const source of sources) {
    if (source.kind === 'subquery') {
      yield* schemasOf(source.select, range);
      continue;
    }
    const schema = source.names.schema(source.schema.measurement.retentionPolicy, range);
    if (schema !== undefined) yield schema;
  }
}
