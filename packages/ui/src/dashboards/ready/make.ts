// Helpers that create the cells of ready-made dashboards.
import { settled } from '../layout.ts';
import { COLUMNS, EMPTY_DASHBOARD, readCell } from '../model.ts';
import type { Cell, CellQuery, Dashboard } from '../model.ts';

type Made = {
  readonly title: string;
  readonly kind?: string;
  readonly w?: number;
  readonly h?: number;
  readonly queries?: readonly (string | readonly [label: string, text: string])[];
  /** Options of the kind of cell. */
  readonly [option: string]: unknown;
};

/** Lays cells out from left to right, in rows. */
export function madeOf(
  dashboard: Partial<Omit<Dashboard, 'cells'>>,
  made: readonly Made[],
): Dashboard {
  let x = 0;
  let y = 0;
  let high = 0;
  const cells = made.map(({ queries = [], ...rest }, i): Cell => {
    const { w = 6, h = 6 } = rest;
    if (x + w > COLUMNS) {
      x = 0;
      y += high;
      high = 0;
    }
    const place = { x, y, w, h };
    x += w;
    high = Math.max(high, h);
    return readCell({ ...rest, ...place, queries: queries.map(queryOf) }, i);
  });
  return { ...EMPTY_DASHBOARD, ...dashboard, cells: settled(cells) };
}

function queryOf(given: string | readonly [label: string, text: string]): CellQuery {
  const [label, text] = typeof given === 'string' ? ['', given] : given;
  return { text, database: '', label };
}

/** The rate of a counter, for each window separately. */
export function rate(field: string, from: string, where = '$timeFilter', by = ''): string {
  return `SELECT non_negative_derivative(max("${field}"), 1s) FROM "${from}" WHERE ${where} GROUP BY time($interval)${by} fill(none)`;
}

/** The mean of a gauge. */
export function mean(field: string, from: string, where = '$timeFilter', by = ''): string {
  return `SELECT mean("${field}") FROM "${from}" WHERE ${where} GROUP BY time($interval)${by} fill(none)`;
}
