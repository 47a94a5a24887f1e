// Aligned tables on standard output, and JSON for programs.

import { printLossless } from '@tidemark/client';

export type Column<T> = {
  readonly title: string;
  readonly value: (item: T) => string | number | boolean;
  readonly isRightAligned?: boolean | undefined;
};

/** Rows below titles, columns padded to their widest cell. Without rows only the titles. */
export function formatTable<T>(columns: readonly Column<T>[], items: readonly T[]): string {
  const rows = items.map((item) => columns.map((column) => String(column.value(item))));
  const titles = columns.map((column) => column.title);
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const width = widths[i] ?? 0;
        return columns[i]?.isRightAligned === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

/** Prints a line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a value as JSON. */
export function printJson(value: unknown): void {
  print(printLossless(value, 2));
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `5420` as `5.4 kB`. */
export function humanBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
