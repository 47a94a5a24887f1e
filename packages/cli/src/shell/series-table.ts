// Series at a glance: one row per series, with a sparkline of every field and its last value.
import type { Cell, Series } from '@tidemark/client';

import { sparkline } from './sparkline.ts';

/** A sparkline shows a shape; more characters would not show more of it. */
const SPARK_CHARACTERS = 32;

/**
 * The series of a measurement as one series whose rows are series; `undefined` if it cannot be
 * drawn, for example because a row has no numbers. Titles: the tags, then each field and, as
 * `last(field)`, its last value.
 */
export function seriesTable(all: readonly Series[]): Series | undefined {
  const [first] = all;
  if (first === undefined || first.columns[0] !== 'time') return undefined;
  const tags = Object.keys(first.tags ?? {});
  const numeric = first.columns.flatMap((title, i) =>
    i > 0 && all.some((series) => (series.values ?? []).some((row) => isNumber(row[i])))
      ? [{ title, i }]
      : [],
  );
  if (numeric.length === 0) return undefined;
  return {
    name: first.name,
    columns: [...tags, 'points', ...numeric.flatMap(({ title }) => [title, `last(${title})`])],
    values: all.map((series) => {
      const rows = series.values ?? [];
      return [
        ...tags.map((tag) => series.tags?.[tag] ?? ''),
        rows.length,
        ...numeric.flatMap(({ i }) => {
          const cells = rows.map((row) => row[i] ?? null);
          return [sparkline(cells, SPARK_CHARACTERS), cells.findLast(isNumber) ?? null];
        }),
      ];
    }),
  };
}

function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint';
}
