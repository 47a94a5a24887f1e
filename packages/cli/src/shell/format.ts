// How the shell prints results: columns, CSV, JSON. Columns and CSV have the layout of InfluxDB's
// shell.
import type { Cell, QueryResponse, Result, Series } from '@tidemark/client';
import { csvCell } from '@tidemark/core';

import type { Colours } from '../output/colour.ts';
import { explainTree, isPlan } from './explain-tree.ts';
import { seriesTable } from './series-table.ts';

export const FORMATS = ['column', 'csv', 'json'] as const;
export type Format = (typeof FORMATS)[number];

export type FormatOptions = {
  readonly format: Format;
  readonly isPretty: boolean;
  /** Width of the terminal; cells are shortened to fit. `undefined` means unlimited. */
  readonly width?: number | undefined;
  /** Shows one row per series, with a column that draws each field, instead of the points. */
  readonly hasSparklines: boolean;
  readonly colours: Colours;
  /** The text for a statement without rows; `undefined` leaves it empty, as programs expect. */
  readonly emptyText?: ((statement: number) => string | undefined) | undefined;
};

const MIN_CELL_WIDTH = 8;

/** The text for an answer without request-level error; does not include statement errors. */
export function formatResponse(response: QueryResponse, options: FormatOptions): string {
  switch (options.format) {
    case 'json':
      return toJson(
        { results: (response.results ?? []).map(({ statement_id: _id, ...result }) => result) },
        options.isPretty,
      );
    case 'csv':
      return (response.results ?? [])
        .map((result) => csvOf(result.series ?? []))
        .filter((text) => text !== '')
        .join('\n');
    case 'column':
      return (response.results ?? [])
        .flatMap((result) => [
          ...(result.messages ?? []).map(({ level, text }) =>
            options.colours.note(`${level}: ${text}`),
          ),
          ...emptyAnswer(result, options),
          ...tablesOf(result.series ?? [], options).map((series) => columnsOf(series, options)),
        ])
        .join('\n\n');
  }
}

function emptyAnswer(
  { series = [], error, statement_id: statement }: Result,
  { emptyText }: FormatOptions,
): readonly string[] {
  if (series.length > 0 || error !== undefined) return [];
  return [emptyText?.(statement) ?? []].flat();
}

/** The series unchanged, or one table per measurement. */
function tablesOf(all: readonly Series[], options: FormatOptions): readonly Series[] {
  if (!options.hasSparklines) return all;
  const byName = new Map<string, Series[]>();
  for (const series of all) {
    const key = JSON.stringify([series.name, series.columns]);
    const group = byName.get(key);
    if (group === undefined) byName.set(key, [series]);
    else group.push(series);
  }
  return [...byName.values()].flatMap((group) => seriesTable(group) ?? group);
}

/** JSON with integers of any size. */
function toJson(value: unknown, isPretty: boolean): string {
  const marked = JSON.stringify(
    value,
    (_key, item: unknown) => (typeof item === 'bigint' ? `\0${item}` : item),
    isPretty ? 4 : undefined,
  );
  return marked.replace(/"\\u0000(-?\d+)"/g, '$1');
}

function cellText(cell: Cell): string {
  return cell === null ? '' : Array.isArray(cell) ? JSON.stringify(cell) : String(cell);
}

function tagsOf(series: Series): string {
  return Object.entries(series.tags ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

function csvOf(series: readonly Series[]): string {
  const lines: string[] = [];
  let header = '';
  for (const one of series) {
    const hasTags = Object.keys(one.tags ?? {}).length > 0;
    const titles = [
      ...(one.name === undefined ? [] : ['name']),
      ...(hasTags ? ['tags'] : []),
      ...one.columns,
    ];
    const line = titles.map(csvCell).join(',');
    if (line !== header) {
      if (header !== '') lines.push('');
      lines.push(line);
      header = line;
    }
    for (const row of one.values ?? []) {
      const before = [
        ...(one.name === undefined ? [] : [one.name]),
        ...(hasTags ? [tagsOf(one)] : []),
      ];
      lines.push([...before, ...row.map(cellText)].map(csvCell).join(','));
    }
  }
  return lines.join('\n');
}

function columnsOf(series: Series, options: FormatOptions): string {
  const rows = (series.values ?? []).map((row) => row.map(cellText));
  const lines: string[] = [];
  const { title } = options.colours;
  if (series.name !== undefined) lines.push(title(`name: ${series.name}`));
  if (Object.keys(series.tags ?? {}).length > 0) lines.push(title(`tags: ${tagsOf(series)}`));
  if (isPlan(series.columns)) {
    return [...lines, ...explainTree(series.columns[0] ?? '', series.values ?? [])].join('\n');
  }
  const widths = fit(
    series.columns.map((column, i) =>
      Math.max(column.length, ...rows.map((row) => (row[i] ?? '').length)),
    ),
    options.width,
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => shorten(cell, widths[i] ?? 0).padEnd(widths[i] ?? 0))
      .join(' ')
      .trimEnd();
  const rulers = series.columns.map((column) => '-'.repeat(column.length));
  lines.push(title(line(series.columns)), line(rulers));
  lines.push(...rows.map(line));
  return lines.join('\n');
}

/** Shrinks the widest columns until the table fits. */
function fit(widths: readonly number[], width: number | undefined): readonly number[] {
  const fitted = [...widths];
  if (width === undefined) return fitted;
  const total = (): number => fitted.reduce((sum, one) => sum + one + 1, -1);
  while (total() > width) {
    const widest = Math.max(...fitted);
    if (widest <= MIN_CELL_WIDTH) break;
    fitted[fitted.indexOf(widest)] = Math.max(MIN_CELL_WIDTH, widest - (total() - width));
  }
  return fitted;
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
