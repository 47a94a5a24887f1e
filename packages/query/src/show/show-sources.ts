// Look-ups for FROM and WHERE: one per database and policy, each naming a measurement once, so that
// results are ordered and without duplicates without being collected.
import { compareBytes } from '@tidemark/core';
import type { MeasurementSource, ShowClauses } from '@tidemark/influxql';

import { lookUp } from '../look-up.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { Predicate, SchemaFilter } from '../series-source.ts';
import { Members } from './members.ts';
import { asksForName, forMeasurement } from './name-condition.ts';
import { seriesCondition, targetOf } from './show-context.ts';
import type { SchemaTarget, TargetOptions, SeriesCondition } from './show-context.ts';
import { forEachBatch, nextBatch } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

/** Entries of a merged piece. */
const PIECE_ENTRIES = 2048;

export type SourceOptions = Omit<TargetOptions, 'database'> & {
  /** If absent, the statement's. */
  readonly condition?: SeriesCondition;
};

/**
 * Filters that together select the same as the sources of a statement. Any two differ in target or
 * in their measurements.
 */
export function* sourceFilters(
  { database, sources, condition: given }: Pick<ShowClauses, 'database' | 'sources' | 'condition'>,
  { condition, ...policies }: SourceOptions,
  execution: ExecutionContext,
): Steps<readonly SchemaFilter[]> {
  const series = condition ?? seriesCondition(given, execution.query);
  const options = { database, ...policies };
  const targets = new Map<
    string,
    { readonly target: SchemaTarget; readonly members: MeasurementSource[] }
  >();
  for (const source of sources) {
    const target = targetOf(source, options, execution.query);
    const id = JSON.stringify(target);
    const group = targets.get(id);
    if (group === undefined) targets.set(id, { target, members: [source] });
    else group.members.push(source);
  }
  if (sources.length === 0) {
    targets.set('', { target: targetOf(undefined, options, execution.query), members: [] });
  }
  const filters: SchemaFilter[] = [];
  for (const { target, members } of targets.values()) {
    const filter = { ...target, ...(yield* namesOf(members, target.database, execution)) };
    filters.push(...(yield* withCondition(filter, series, execution)));
  }
  return filters;
}

function* namesOf(
  sources: readonly MeasurementSource[],
  database: string,
  execution: ExecutionContext,
): Steps<Pick<SchemaFilter, 'measurements' | 'measurementPattern'>> {
  const [only] = sources;
  if (only === undefined) return {};
  if (sources.length === 1 && only.pattern !== undefined) {
    return { measurementPattern: only.pattern };
  }
  const members = new Members(execution);
  for (const { name, pattern } of sources) {
    if (pattern === undefined) {
      members.add(name ?? '');
      continue;
    }
    const filter = { database, measurementPattern: pattern };
    yield* forEachBatch(lookUp(execution.query, 'measurements', { filter }), ({ names }) => {
      for (const each of names) members.add(each);
    });
  }
  return { measurements: [...members.texts] };
}

/**
 * The series of a filter that meet a condition: one filter for all measurements with the same
 * condition on tags.
 */
export function* withCondition(
  filter: SchemaFilter,
  { where, timeRange }: SeriesCondition,
  execution: ExecutionContext,
): Steps<readonly SchemaFilter[]> {
  const ranged = timeRange === undefined ? filter : { ...filter, timeRange };
  if (where === undefined) return [ranged];
  if (!asksForName(where)) return [{ ...ranged, where }];
  const byRest = new Map<string, { readonly rest: Predicate; readonly names: Members }>();
  yield* forEachBatch(lookUp(execution.query, 'measurements', { filter }), ({ names }) => {
    for (const name of names) {
      const rest = forMeasurement(where, name);
      if (rest.kind === 'constant' && !rest.value) continue;
      const id = JSON.stringify(rest);
      const group = byRest.get(id) ?? { rest, names: new Members(execution) };
      byRest.set(id, group);
      group.names.add(name);
    }
  });
  return Array.from(byRest.values(), ({ rest, names }) => ({
    ...ranged,
    measurementPattern: undefined,
    measurements: [...names.texts],
    where: rest.kind === 'constant' ? undefined : rest,
  }));
}

/** Names of the measurements with series that match the filters. */
export function* measurementsOf(
  filters: readonly SchemaFilter[],
  execution: ExecutionContext,
): Steps<Members> {
  const names = new Members(execution);
  for (const filter of filters) {
    yield* forEachBatch(lookUp(execution.query, 'measurements', { filter }), (batch) => {
      for (const name of batch.names) names.add(name);
    });
  }
  return names;
}

/** Entries of one measurement, in order; pieces of one measurement follow each other. */
export type Piece<T> = { readonly measurement: string; readonly entries: readonly T[] };

/**
 * Merges several answers, each in the order of measurements and then of entries, into one in that
 * order without duplicates. Reads on when a piece is used up: no more than one of each is held.
 */
export function* merged<T>(
  answers: readonly Operator<Piece<T>>[],
  compare: (a: T, b: T) => number,
): Operator<Piece<T>> {
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const heads = answers.map((answer) => new Head(answer));
  try {
    for (const head of heads) yield* head.next();
    let measurement: string | undefined;
    let entries: T[] = [];
    for (;;) {
      const least = leastOf(heads, compare);
      const isSame = least?.measurement === measurement;
      if (measurement !== undefined && (!isSame || entries.length === PIECE_ENTRIES)) {
        yield { measurement, entries };
        entries = [];
      }
      if (least === undefined) return;
      measurement = least.measurement;
      entries.push(least.entry);
      for (const head of heads) {
        if (head.current === undefined || order(head.current, least, compare) !== 0) continue;
        if (!head.advance()) yield* head.next();
      }
    }
  } finally {
    for (const head of heads) head.close();
  }
}

type Entry<T> = { readonly measurement: string; readonly entry: T };

/** The next entry of an answer. */
class Head<T> {
  readonly #answer: Operator<Piece<T>>;
  #piece: Piece<T> | undefined;
  #at = 0;
  current: Entry<T> | undefined;

  constructor(answer: Operator<Piece<T>>) {
    this.#answer = answer;
  }

  /** Moves on within the piece; `false` at its end. */
  advance(): boolean {
    const piece = this.#piece;
    if (piece === undefined || ++this.#at >= piece.entries.length) return false;
    this.current = { measurement: piece.measurement, entry: piece.entries[this.#at]! };
    return true;
  }

  /** Moves on to the first entry of the next piece that has one, if there is any. */
  *next(): Steps {
    this.#piece = undefined;
    this.current = undefined;
    do {
      this.#piece = yield* nextBatch(this.#answer);
      this.#at = -1;
    } while (!this.advance() && this.#piece !== undefined);
  }

  close(): void {
    this.#answer.return();
  }
}

function leastOf<T>(
  heads: readonly Head<T>[],
  compare: (a: T, b: T) => number,
): Entry<T> | undefined {
  let least: Entry<T> | undefined;
  for (const { current } of heads) {
    if (current === undefined) continue;
    if (least === undefined || order(current, least, compare) < 0) least = current;
  }
  return least;
}

function order<T>(a: Entry<T>, b: Entry<T>, compare: (a: T, b: T) => number): number {
  return compareBytes(a.measurement, b.measurement) || compare(a.entry, b.entry);
}
