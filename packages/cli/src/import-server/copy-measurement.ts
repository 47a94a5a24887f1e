// Copies the points of one measurement, one shard-sized time range at a time, and checks counts and
// sums.
import type { Cell, Series, TsdbClient } from '@tidemark/client';
import { quoteIdentifier } from '@tidemark/influxql';

import { pathOf, readLines, within } from './lines.ts';
import type { CopyRange, MeasurementRef } from './lines.ts';

/**
 * Copies one range; returns the number of points. Subscriptions of the target receive them only
 * with `notify`.
 */
export async function copyRange(
  from: TsdbClient,
  to: TsdbClient,
  { ref, range }: { readonly ref: MeasurementRef; readonly range: CopyRange },
  notify: boolean,
): Promise<number> {
  let points = 0;
  for await (const lines of readLines(from, ref, range)) {
    await to.write(ref.database, lines.join('\n'), {
      retentionPolicy: ref.policy,
      precision: 'ns',
      notify,
    });
    points += lines.length;
  }
  return points;
}

export type Mismatch = { readonly measurement: string; readonly text: string };

const RELATIVE_TOLERANCE = 1e-9;

/**
 * Compares count and, for numbers, sum of every field on both servers. Sums of floats may differ by
 * rounding.
 */
export async function verifyMeasurement(
  from: TsdbClient,
  to: TsdbClient,
  ref: MeasurementRef,
  range: CopyRange,
): Promise<readonly Mismatch[]> {
  const columns = ref.fields.flatMap((field, i) => {
    const name = `${quoteIdentifier(field.name)}::${field.type}`;
    const isNumber =
      field.type === 'float' || field.type === 'integer' || field.type === 'unsigned';
    return [`count(${name}) AS c${i}`, ...(isNumber ? [`sum(${name}) AS s${i}`] : [])];
  });
  const statement = `SELECT ${columns.join(', ')} FROM ${pathOf(ref)} WHERE ${within(range)}`;
  const [there, here] = await Promise.all(
    [from, to].map(async (client) =>
      rowOf(await client.rows(statement, { database: ref.database, epoch: 'ns' })),
    ),
  );
  const mismatches: Mismatch[] = [];
  for (const [name, value] of there ?? []) {
    if (isSame(value, here?.get(name) ?? null)) continue;
    const field = ref.fields[Number(name.slice(1))]?.name ?? name;
    const what = name.startsWith('c') ? 'count' : 'sum';
    mismatches.push({
      measurement: ref.measurement,
      text: `${what} of ${field}: ${String(value)} there, ${String(here?.get(name) ?? null)} here`,
    });
  }
  return mismatches;
}

function rowOf(series: readonly Series[]): ReadonlyMap<string, Cell> {
  const [first] = series;
  return new Map(
    (first?.columns ?? []).slice(1).map((name, i) => [name, first?.values?.[0]?.[i + 1] ?? null]),
  );
}

/** Sums of floats may differ by rounding. */
export function isSame(a: Cell, b: Cell): boolean {
  if (a === b) return true;
  if (typeof a !== 'number' || typeof b !== 'number') return String(a) === String(b);
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
