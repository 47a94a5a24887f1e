// Copies the points of one measurement, one shard-sized time range at a time, and checks counts and sums.
import { parseLossless } from '@tidemark/client';
import type { Cell, QueryResponse, Series, TsdbClient } from '@tidemark/client';
import { escapeMeasurement, escapeTagPart, Internal } from '@tidemark/core';
import { quoteIdentifier } from '@tidemark/influxql';

import type { SourceField } from './source-schema.ts';

const CHUNK_ROWS = 10_000;

export type MeasurementRef = {
  readonly database: string;
  readonly policy: string;
  readonly measurement: string;
  readonly fields: readonly SourceField[];
};

/** Nanoseconds, half-open. */
export type CopyRange = { readonly start: bigint; readonly end: bigint };

const path = ({ database, policy, measurement }: MeasurementRef): string =>
  [database, policy, measurement].map(quoteIdentifier).join('.');

const within = ({ start, end }: CopyRange): string => `time >= ${start} AND time < ${end}`;

/** Copies one range; the number of points. */
export async function copyRange(
  from: TsdbClient,
  to: TsdbClient,
  ref: MeasurementRef,
  range: CopyRange,
): Promise<number> {
  const selected = ref.fields.map(
    (field, i) => `${quoteIdentifier(field.name)}::${field.type} AS f${i}`,
  );
  const statement = `SELECT ${selected.join(', ')} FROM ${path(ref)} WHERE ${within(range)} GROUP BY *`;
  const response = await from.http.send('/query', {
    method: 'POST',
    body: new URLSearchParams({
      q: statement,
      db: ref.database,
      epoch: 'ns',
      chunked: 'true',
      chunk_size: String(CHUNK_ROWS),
    }),
    signal: AbortSignal.timeout(3_600_000),
  });
  let points = 0;
  for await (const document of jsonLines(response)) {
    const error =
      document.error ?? document.results?.find((result) => result.error !== undefined)?.error;
    if (error !== undefined) throw new Internal(`reading ${path(ref)}: ${error}`);
    for (const series of document.results?.flatMap((result) => result.series ?? []) ?? []) {
      const lines = linesOf(ref, series);
      if (lines.length > 0)
        await to.write(ref.database, lines.join('\n'), {
          retentionPolicy: ref.policy,
          precision: 'ns',
        });
      points += lines.length;
    }
  }
  return points;
}

async function* jsonLines(response: Response): AsyncIterable<QueryResponse> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield parseLossless(line) as QueryResponse;
  }
  if (rest.trim() !== '') yield parseLossless(rest) as QueryResponse;
}

function linesOf(ref: MeasurementRef, series: Series): string[] {
  let head = escapeMeasurement(ref.measurement);
  for (const [key, value] of Object.entries(series.tags ?? {})) {
    if (value !== '') head += `,${escapeTagPart(key)}=${escapeTagPart(value)}`;
  }
  const lines: string[] = [];
  for (const [time, ...cells] of series.values ?? []) {
    const fields = cells.flatMap((cell, i) => {
      const field = ref.fields[i];
      return cell === null || field === undefined
        ? []
        : [`${escapeTagPart(field.name)}=${printValue(cell, field.type)}`];
    });
    if (fields.length > 0) lines.push(`${head} ${fields.join(',')} ${String(time)}`);
  }
  return lines;
}

function printValue(cell: Exclude<Cell, null>, type: string): string {
  switch (type) {
    case 'integer':
      return `${String(cell)}i`;
    case 'unsigned':
      return `${String(cell)}u`;
    case 'string':
      return `"${String(cell).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    default:
      return String(cell);
  }
}

export type Mismatch = { readonly measurement: string; readonly text: string };

const RELATIVE_TOLERANCE = 1e-9;

/** Compares count and, for numbers, sum of every field on both servers. Sums of floats may differ by rounding. */
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
  const statement = `SELECT ${columns.join(', ')} FROM ${path(ref)} WHERE ${within(range)}`;
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

function isSame(a: Cell, b: Cell): boolean {
  if (a === b) return true;
  if (typeof a !== 'number' || typeof b !== 'number') return String(a) === String(b);
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
