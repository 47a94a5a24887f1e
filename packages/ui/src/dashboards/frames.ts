// Results of a cell, converted for its kind.
import type { Cell as Value } from '@tidemark/client';

import type { StatementAnswer } from '../api/query-stream.ts';
import type { ChartData, ChartSeries } from '../charts/data.ts';
import { chartOf } from '../query/frames.ts';
import type { Span } from '../time/range.ts';

/** An answer, the label of its lines, and the letter of its query. */
export type Labelled = StatementAnswer & { readonly label: string; readonly letter?: string };

/** Lines of all statements; a query's label precedes or replaces their names. */
export function linesOf(statements: readonly Labelled[]): ChartData {
  return { series: withOwnLabels(statements.flatMap(linesOfOne)) };
}

/** Lines of one statement; several may have the same label. */
export function linesOfOne(statement: Labelled): readonly ChartSeries[] {
  const lines = chartOf(statement).series;
  const { label } = statement;
  if (label === '') return lines;
  if (isPattern(label)) {
    return lines.map((line): ChartSeries => ({ ...line, label: filledIn(label, line) }));
  }
  return lines.map((line): ChartSeries => {
    const tags = line.label.includes(' ') ? line.label.slice(line.label.indexOf(' ')) : '';
    return {
      ...line,
      label: label + (lines.length === 1 ? '' : tags || ` ${line.label}`),
    };
  });
}

const LABEL_PART = /\$\{?(\w+)\}?|\[\[(\w+)\]\]/g;

/** Whether a label contains placeholders for parts of a line's name. */
const isPattern = (label: string): boolean => label.search(LABEL_PART) >= 0;

/** Replaces `$tag_host`, `$col`, `$m` and `$1` with parts of a line's name; unknown ones stay. */
function filledIn(label: string, { source }: ChartSeries): string {
  if (source === undefined) return label;
  return label.replaceAll(
    LABEL_PART,
    (all, bare: string | undefined, boxed: string | undefined) => {
      const name = bare ?? boxed ?? '';
      if (/^\d+$/.test(name)) return source.measurement.split('.')[Number(name)] ?? '';
      const part = partOf(source, LONG_NAMES.get(name) ?? name);
      return part ?? (name.startsWith('tag_') ? '' : all);
    },
  );
}

const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ['measurement', 'm'],
  ['field', 'col'],
]);

/**
 * The part of a line's name that `m`, `col` or `tag_host` stands for; `undefined` if it has none.
 */
export function partOf(source: ChartSeries['source'], name: string): string | undefined {
  if (name === 'm') return source?.measurement;
  if (name === 'col') return source?.column;
  return name.startsWith('tag_') ? source?.tags[name.slice('tag_'.length)] : undefined;
}

/** Makes labels distinct for the legend. */
export function withOwnLabels(series: readonly ChartSeries[]): readonly ChartSeries[] {
  const seen = new Map<string, number>();
  return series.map((line) => {
    const count = (seen.get(line.label) ?? 0) + 1;
    seen.set(line.label, count);
    return count === 1 ? line : { ...line, label: `${line.label} (${count})` };
  });
}

/** Numbers of a line, oldest first, without gaps. */
export function numbersOf({ values }: ChartSeries): readonly number[] {
  return [...values].filter((value) => !Number.isNaN(value));
}

export type Bucket = { readonly from: number; readonly to: number; readonly count: number };

/** Counts of values in equally wide buckets. */
export function histogramOf({ series }: ChartData, bucketCount: number): readonly Bucket[] {
  const values = series.flatMap(numbersOf);
  const [min, max] = extent(values);
  if (min === undefined || max === undefined) return [];
  const width = (max - min) / bucketCount || 1;
  const counts = zeros(max === min ? 1 : bucketCount);
  for (const value of values) {
    const at = Math.min(counts.length - 1, Math.floor((value - min) / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, i) => ({ from: min + i * width, to: min + (i + 1) * width, count }));
}

export type Heat = {
  /** Counts by time column, then by value row from the bottom. */
  readonly counts: readonly (readonly number[])[];
  readonly max: number;
  readonly low: number;
  readonly high: number;
};

/** Counts of values by time and value. */
export function heatOf(
  { series }: ChartData,
  { fromMs, toMs }: Span,
  size: { readonly columns: number; readonly rows: number },
): Heat | undefined {
  const [low, high] = extent(series.flatMap(numbersOf));
  if (low === undefined || high === undefined) return undefined;
  const { columns, rows } = size;
  const counts = Array.from({ length: columns }, () => zeros(rows));
  let max = 0;
  for (const { times, values } of series) {
    for (let i = 0; i < times.length; i++) {
      const value = values[i] ?? NaN;
      const column = Math.floor((((times[i] ?? 0) - fromMs) / (toMs - fromMs)) * columns);
      const counted = counts[Math.min(columns - 1, column)];
      if (Number.isNaN(value) || column < 0 || column > columns || counted === undefined) continue;
      const row = high === low ? 0 : Math.floor(((value - low) / (high - low)) * rows);
      const at = Math.min(rows - 1, row);
      counted[at] = (counted[at] ?? 0) + 1;
      max = Math.max(max, counted[at] ?? 0);
    }
  }
  return { counts, max, low, high };
}

const zeros = (length: number): number[] => Array.from({ length }, () => 0);

function extent(values: readonly number[]): readonly [number | undefined, number | undefined] {
  let min: number | undefined;
  let max: number | undefined;
  for (const value of values) {
    if (min === undefined || value < min) min = value;
    if (max === undefined || value > max) max = value;
  }
  return [min, max];
}

export type Stretch = { readonly fromMs: number; readonly toMs: number; readonly text: string };
export type Lane = { readonly label: string; readonly stretches: readonly Stretch[] };

/** Duration of each value: until the next different one, for every column of every series. */
export function lanesOf(statements: readonly Labelled[], { toMs }: Span): readonly Lane[] {
  return statements.flatMap(({ series, label }) =>
    series.flatMap(({ name, tags, columns, rows }) => {
      const timeAt = columns.indexOf('time');
      if (timeAt < 0) return [];
      const ordered = rows
        .map((row) => ({ row, timeMs: Date.parse(String(row[timeAt])) }))
        .toSorted((a, b) => a.timeMs - b.timeMs);
      const values = columns.flatMap((column, at) => (at === timeAt ? [] : [{ column, at }]));
      return values.flatMap(({ column, at }) => {
        const stretches: Stretch[] = [];
        for (const { row, timeMs } of ordered) {
          const value = row[at] ?? null;
          if (value === null) continue;
          const text = String(value);
          const last = stretches.at(-1);
          if (last?.text === text) continue;
          if (last !== undefined) stretches[stretches.length - 1] = { ...last, toMs: timeMs };
          stretches.push({ fromMs: timeMs, toMs, text });
        }
        if (stretches.length === 0) return [];
        const tagText = Object.values(tags).join(' ');
        const own = values.length > 1 || tagText === '' ? column : '';
        const named = [label, tagText, own].filter((part) => part !== '').join(' ');
        return [{ label: named === '' ? name : named, stretches }];
      });
    }),
  );
}

export type Grid = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
};

/** All rows in one table: tags first, then the columns of all series. */
export function gridOf(statements: readonly Labelled[]): Grid {
  const all = statements.flatMap(({ series }) => series);
  const tags = [...new Set(all.flatMap((one) => Object.keys(one.tags)))];
  const columns = [...new Set(all.flatMap((one) => one.columns))];
  const times = columns.filter((column) => column === 'time');
  const others = columns.filter((column) => column !== 'time');
  const rows = all.flatMap((one) => {
    const at = [...times, ...others].map((column) => one.columns.indexOf(column));
    const timeCount = times.length;
    return one.rows.map((row) => {
      const cells = at.map((i) => row[i] ?? null);
      return [
        ...cells.slice(0, timeCount),
        ...tags.map((tag) => one.tags[tag] ?? null),
        ...cells.slice(timeCount),
      ];
    });
  });
  return { columns: [...times, ...tags, ...others], rows };
}
