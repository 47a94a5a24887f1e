// Reads points of a running server as line protocol, and finds the ends of lines in a file.
import { parseLossless } from '@tidemark/client';
import type { Cell, QueryResponse, Series, TsdbClient } from '@tidemark/client';
import { escapeMeasurement, escapeTagPart, Internal, utf8Lines } from '@tidemark/core';
import { quoteIdentifier } from '@tidemark/influxql';

import type { SourceField } from './source-schema.ts';

const CHUNK_ROWS = 10_000;
// Reading a shard on an old machine may take long; more than an hour is an error.
const READ_TIMEOUT_MS = 3_600_000;

export type MeasurementRef = {
  readonly database: string;
  readonly policy: string;
  readonly measurement: string;
  readonly fields: readonly SourceField[];
};

/** Nanoseconds, half-open. */
export type CopyRange = { readonly start: bigint; readonly end: bigint };

/** Database, policy and measurement, quoted. */
export const pathOf = ({ database, policy, measurement }: MeasurementRef): string =>
  [database, policy, measurement].map(quoteIdentifier).join('.');

/** The condition of a range. */
export const within = ({ start, end }: CopyRange): string => `time >= ${start} AND time < ${end}`;

/**
 * Points of a measurement within a range, in chunks; times are nanoseconds. Throws the server's
 * errors.
 */
export async function* readLines(
  from: TsdbClient,
  ref: MeasurementRef,
  range: CopyRange,
): AsyncIterable<readonly string[]> {
  if (ref.fields.length === 0) return;
  const selected = ref.fields.map(
    (field, i) => `${quoteIdentifier(field.name)}::${field.type} AS f${i}`,
  );
  const statement = `SELECT ${selected.join(', ')} FROM ${pathOf(ref)} WHERE ${within(range)} GROUP BY *`;
  const response = await from.http.send('/query', {
    method: 'POST',
    body: new URLSearchParams({
      q: statement,
      db: ref.database,
      epoch: 'ns',
      chunked: 'true',
      chunk_size: String(CHUNK_ROWS),
    }),
    signal: AbortSignal.timeout(READ_TIMEOUT_MS),
  });
  for await (const document of jsonLines(response)) {
    const error =
      document.error ?? document.results?.find((result) => result.error !== undefined)?.error;
    if (error !== undefined) throw new Internal(`reading ${pathOf(ref)}: ${error}`);
    for (const series of document.results?.flatMap((result) => result.series ?? []) ?? []) {
      const lines = pointsOf(ref, series);
      if (lines.length > 0) yield lines;
    }
  }
}

async function* jsonLines(response: Response): AsyncIterable<QueryResponse> {
  if (response.body === null) return;
  for await (const line of utf8Lines(response.body)) {
    if (line.trim() !== '') yield parseLossless(line) as QueryResponse;
  }
}

function pointsOf(ref: MeasurementRef, series: Series): string[] {
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

/**
 * Whether a line of a file ends inside a string, so that the point continues on the next line.
 * Quotes are special in field values only, not in measurement and tags.
 */
export function stopsInString(line: string): boolean {
  const fieldsAt = endOfKey(line);
  let isInString = false;
  for (let i = fieldsAt; i < line.length; i++) {
    if (line[i] === '\\' && isInString) i++;
    else if (line[i] === '"') isInString = !isInString;
  }
  return isInString;
}

/** Index of the first unescaped blank. */
function endOfKey(line: string): number {
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\') i++;
    else if (line[i] === ' ') return i;
  }
  return line.length;
}
