// Applies transformations and overrides of a cell to its results, for its drawing.
import type { Cell as Value } from '@tidemark/client';

import type { ChartData, ChartSeries } from '../charts/data.ts';
import { bridged } from '../charts/gaps.ts';
import {
  gridOf,
  lanesOf,
  linesOf,
  linesOfOne,
  numbersOf,
  withOwnLabels,
} from '../dashboards/frames.ts';
import type { Grid, Labelled, Lane } from '../dashboards/frames.ts';
import { matches, replacedBy } from '../dashboards/patterns.ts';
import { valueOf } from './option.ts';
import type { Options } from './option.ts';
import { calculated } from '../charts/calc.ts';
import type { Calc } from '../charts/calc.ts';
import { BRIDGE_MS, NULLS } from './options/lines.ts';
import { OVERRIDES } from './options/overrides.ts';
import type { Look, Override } from './options/overrides.ts';
import { TRANSFORMATIONS } from './options/transformations.ts';
import type { Transformation } from './options/transformations.ts';
import type { Span } from '../time/range.ts';
import { texts } from '../texts/texts.ts';

const t = texts.cells;

type Shown = { readonly options: Options };

/** Names that may denote a line in overrides and transformations. */
function namesOf({ label, source }: ChartSeries): readonly string[] {
  if (source === undefined) return [label];
  const { measurement, column, tags } = source;
  const pairs = Object.entries(tags).map(([key, value]) => `${key}: ${value}`);
  const full = `${measurement}.${column}`;
  // Grafana's names of lines of this language.
  return [label, column, full, pairs.length === 0 ? full : `${full} {${pairs.join(', ')}}`];
}

const isNamed = (names: readonly string[], name: string): boolean =>
  names.some((each) => each === name || (name === 'Time' && each === 'time'));

/** Whether one of the names is listed, or matches the pattern. */
function isMeant(
  names: readonly string[],
  { names: listed, pattern }: { readonly names: readonly string[]; readonly pattern: string },
): boolean {
  if (listed.some((name) => isNamed(names, name))) return true;
  return pattern !== '' && names.some((name) => matches(pattern, name));
}

function isOverridden({ by, match }: Override, names: readonly string[], letter: string): boolean {
  switch (by) {
    case 'all':
      return true;
    case 'query':
      return letter === match;
    case 'name':
      return isNamed(names, match);
    case 'pattern':
      return names.some((name) => matches(match, name));
  }
}

/** The overrides for something with these names; later ones win. */
function lookOf(cell: Shown, names: readonly string[], letter: string): Look {
  return valueOf(cell, OVERRIDES)
    .filter((override) => isOverridden(override, names, letter))
    .reduce<Look>((all, { look }) => merged(all, look), {});
}

const merged = (a: Look, b: Look): Look => ({
  ...a,
  ...Object.fromEntries(Object.entries(b).filter(([, value]) => value !== undefined)),
});

/** Answers to the queries that a transformation keeps. */
function ofQueries(
  statements: readonly Labelled[],
  all: readonly Transformation[],
): readonly Labelled[] {
  return all.reduce<readonly Labelled[]>(
    (kept, each) =>
      each.kind === 'queries'
        ? kept.filter(({ letter = '' }) => each.pattern === letter || matches(each.pattern, letter))
        : kept,
    statements,
  );
}

/** Lines of answers. Only options of the cell leave any out. */
export function shownLines(cell: Shown, statements: readonly Labelled[]): ChartData {
  const transformations = valueOf(cell, TRANSFORMATIONS);
  const lines = ofQueries(statements, transformations).flatMap((statement) =>
    linesOfOne(statement).map((line) => ({ line, letter: statement.letter ?? '' })),
  );
  const series = lines.flatMap(({ line, letter }) => {
    const look = lookOf(cell, namesOf(line), letter);
    if (look.isHidden === true) return [];
    const own = look.label === undefined ? line : { ...line, label: look.label };
    return transformedLine(own, transformations).map((each): ChartSeries => ({
      ...withoutGaps(cell, negated(each, look)),
      look,
    }));
  });
  return { series: withOwnLabels(series) };
}

const negated = (line: ChartSeries, { isNegative }: Look): ChartSeries =>
  isNegative === true ? { ...line, values: line.values.map((value) => -value) } : line;

/** A transformed line with its new name; empty if it is hidden. */
function transformedLine(
  line: ChartSeries,
  transformations: readonly Transformation[],
): readonly ChartSeries[] {
  let { label } = line;
  for (const each of transformations) {
    const names = [...namesOf(line), label];
    if (each.kind === 'rename') {
      const found = Object.entries(each.names).find(([name]) => isNamed(names, name));
      label = found?.[1] ?? label;
    } else if (each.kind === 'rename-pattern') {
      label = replacedBy(each.pattern, label, each.to);
    } else if (each.kind === 'hide' && isMeant(names, each)) return [];
    // A transformation that keeps only the time keeps all others: the time is not a line.
    else if (each.kind === 'keep' && !isMeant(names, each)) return [];
  }
  return [label === line.label ? line : { ...line, label }];
}

/** Missing values as the cell shows them: gaps, zeros, or left out. */
function withoutGaps(cell: Shown, line: ChartSeries): ChartSeries {
  const nulls = valueOf(cell, NULLS);
  if (nulls === 'zero') {
    return { ...line, values: line.values.map((value) => (Number.isNaN(value) ? 0 : value)) };
  }
  return bridged(line, nulls === 'connect' ? Infinity : valueOf(cell, BRIDGE_MS));
}

/** Lanes of states, with the cell's names. */
export function shownLanes(cell: Shown, { statements, span }: LaneAnswer): readonly Lane[] {
  const transformations = valueOf(cell, TRANSFORMATIONS);
  return ofQueries(statements, transformations).flatMap((statement) =>
    lanesOf([statement], span).flatMap((lane) => {
      const look = lookOf(cell, [lane.label], statement.letter ?? '');
      if (look.isHidden === true) return [];
      const line = { label: look.label ?? lane.label, times: NO_NUMBERS, values: NO_NUMBERS };
      return transformedLine(line, transformations).map(({ label }) => ({ ...lane, label }));
    }),
  );
}

type LaneAnswer = { readonly statements: readonly Labelled[]; readonly span: Span };

const NO_NUMBERS = new Float64Array();

export type ShownGrid = Grid & {
  /** The overrides of each column. */
  readonly looks: readonly Look[];
  /** The column of times; -1 without one. */
  readonly timeAt: number;
};

/** Rows of answers as one table. */
export function shownGrid(cell: Shown, statements: readonly Labelled[]): ShownGrid {
  const transformations = valueOf(cell, TRANSFORMATIONS);
  const asked = ofQueries(statements, transformations);
  let grid: Grid = gridOf(asked);
  // Overrides and later steps may use a column's original name.
  let first = grid.columns;
  for (const each of transformations) {
    const names = (at: number): readonly string[] => [grid.columns[at] ?? '', first[at] ?? ''];
    const all = [...grid.columns.keys()];
    const pick = (chosen: readonly number[]): void => {
      first = chosen.map((at) => first[at] ?? '');
      grid = {
        columns: chosen.map((at) => grid.columns[at] ?? ''),
        rows: grid.rows.map((row) => chosen.map((at) => row[at] ?? null)),
      };
    };
    const rename = (nameOf: (at: number) => string): void => {
      grid = { ...grid, columns: all.map(nameOf) };
    };
    switch (each.kind) {
      case 'rename':
        rename(
          (at) =>
            Object.entries(each.names).find(([name]) => isNamed(names(at), name))?.[1] ??
            grid.columns[at] ??
            '',
        );
        break;
      case 'rename-pattern':
        rename((at) => replacedBy(each.pattern, grid.columns[at] ?? '', each.to));
        break;
      case 'order': {
        const placeOf = (at: number): number => {
          const place = each.names.findIndex((name) => isNamed(names(at), name));
          return place < 0 ? each.names.length : place;
        };
        pick(all.toSorted((a, b) => placeOf(a) - placeOf(b)));
        break;
      }
      case 'hide':
        pick(all.filter((at) => !isMeant(names(at), each)));
        break;
      case 'keep':
        pick(all.filter((at) => isMeant(names(at), each)));
        break;
      case 'reduce':
        grid = reduced(asked, each.calcs);
        first = grid.columns;
        break;
      case 'sort': {
        const at = all.find((i) => isNamed(names(i), each.by));
        if (at !== undefined) grid = { ...grid, rows: sorted(grid.rows, at, each.isDown) };
        break;
      }
      case 'limit':
        grid = { ...grid, rows: grid.rows.slice(0, each.count) };
        break;
      case 'queries':
        break;
    }
  }
  return overridden(cell, grid, first);
}

/** Columns with the names from overrides, without hidden ones. */
function overridden(cell: Shown, { columns, rows }: Grid, first: readonly string[]): ShownGrid {
  const looks = columns.map((column, at) => lookOf(cell, [column, first[at] ?? ''], ''));
  const kept = [...columns.keys()].filter((at) => looks[at]?.isHidden !== true);
  return {
    columns: kept.map((at) => looks[at]?.label ?? columns[at] ?? ''),
    rows:
      kept.length === columns.length ? rows : rows.map((row) => kept.map((at) => row[at] ?? null)),
    looks: kept.map((at) => looks[at] ?? {}),
    timeAt: kept.findIndex((at) => first[at] === 'time'),
  };
}

/** One row for each line, with aggregates of it. */
function reduced(statements: readonly Labelled[], calcs: readonly Calc[]): Grid {
  return {
    columns: [t.field, ...calcs.map((calc) => t.calcs[calc])],
    rows: linesOf(statements).series.map((line) => {
      const numbers = numbersOf(line);
      const figures = calcs.map((calc) => calculated(calc, numbers));
      return [line.label, ...figures.map((each) => (Number.isNaN(each) ? null : each))];
    }),
  };
}

function sorted(
  rows: readonly (readonly Value[])[],
  at: number,
  isDown: boolean,
): readonly (readonly Value[])[] {
  const compare = (a: Value, b: Value): number => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const isText = typeof a === 'string' || typeof b === 'string';
    return isText ? String(a).localeCompare(String(b)) : Number(a) - Number(b);
  };
  const ordered = rows.toSorted((a, b) => compare(a[at] ?? null, b[at] ?? null));
  return isDown ? ordered.toReversed() : ordered;
}
