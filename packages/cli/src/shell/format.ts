// How the shell prints answers: columns, CSV, JSON. Columns and CSV are laid out as users of the older shell know them.
import type { Cell, QueryResponse, Series } from '@tidemark/client';

import { sparkline } from './sparkline.ts';

export const FORMATS = ['column', 'csv', 'json'] as const;
export type Format = (typeof FORMATS)[number];

export type FormatOptions = {
  readonly format: Format;
  readonly isPretty: boolean;
  /** Width of the terminal; cells are shortened to fit. `undefined` shortens nothing. */
  readonly width?: number | undefined;
  /** Ends every group of numeric rows with a line that draws each column. */
  readonly hasSparklines: boolean;
};

const MIN_CELL_WIDTH = 8;

/** The text for an answer without request-level error; statement errors are not part of it. */
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
          ...(result.messages ?? []).map(({ level, text }) => `${level}: ${text}`),
          ...(result.series ?? []).map((series) => columnsOf(series, options)),
        ])
        .join('\n\n');
  }
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

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) || text.startsWith(' ') ? `"${text.replaceAll('"', '""')}"` : text;
}

function columnsOf(series: Series, options: FormatOptions): string {
  const rows = (series.values ?? []).map((row) => row.map(cellText));
  const isPlan =
    series.columns.length === 1 && /^(QUERY PLAN|EXPLAIN ANALYZE)$/.test(series.columns[0] ?? '');
  const lines: string[] = [];
  if (series.name !== undefined) lines.push(`name: ${series.name}`);
  if (Object.keys(series.tags ?? {}).length > 0) lines.push(`tags: ${tagsOf(series)}`);
  if (isPlan) return [...lines, ...rows.map((row) => row[0] ?? '')].join('\n');
  const widths = fit(
    series.columns.map((title, i) =>
      Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)),
    ),
    options.width,
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => shorten(cell, widths[i] ?? 0).padEnd(widths[i] ?? 0))
      .join(' ')
      .trimEnd();
  lines.push(line(series.columns), line(series.columns.map((title) => '-'.repeat(title.length))));
  lines.push(...rows.map(line));
  if (options.hasSparklines) {
    const drawn = series.columns.map((_, i) =>
      i === 0
        ? '~'
        : sparkline(
            (series.values ?? []).map((row) => row[i] ?? null),
            widths[i] ?? 0,
          ),
    );
    if (drawn.some((text) => text !== '~' && text !== '')) lines.push(line(drawn));
  }
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
