// Converts points between their forms: batches of columns, line protocol, result series.
import { parseLines, printLine, signedValue } from '@tidemark/line-protocol';
import type { PointBatch, QueryResultSeries } from '@tidemark/runtime';
import { batchOfPoints, pointsOf } from '../shared-log/point-record.ts';
import type { RecordedPoint } from './recording-file.ts';

/** The points of a batch as lines, filtered by measurement; no measurements means all. */
export function* recordedPoints(
  batch: PointBatch,
  measurements: ReadonlySet<string>,
): Iterable<RecordedPoint & { readonly time: bigint }> {
  const { database, retentionPolicy } = batch;
  for (const { name: measurement, tags, fields, time } of pointsOf(batch)) {
    if (measurements.size > 0 && !measurements.has(measurement)) continue;
    const line = printLine({ measurement, tags, fields, time });
    if (line !== undefined) yield { database, retentionPolicy, line, time };
  }
}

/** Time of a recorded point. */
export function timeOfLine(line: string): bigint {
  return BigInt(line.slice(line.lastIndexOf(' ') + 1));
}

/** A batch of recorded points of one database and policy, their times shifted. */
export function batchOf(points: readonly RecordedPoint[], shift: bigint): PointBatch {
  const [{ database, retentionPolicy } = { database: '', retentionPolicy: '' }] = points;
  const body = Buffer.from(points.map((point) => point.line).join('\n'));
  const { points: parsed } = parseLines(body, { precision: 'ns', now: 0n });
  const shifted = parsed.map(({ measurement: name, tags, fields, time }) => ({
    name,
    tags,
    fields: fields.map(([field, value]) => [field, signedValue(value)] as const),
    time: time + shift,
  }));
  return batchOfPoints({ database, retentionPolicy }, shifted);
}

/** Rows of result series as points in order of their times. */
export function pointsOfSeries(
  series: readonly QueryResultSeries[],
  source: { readonly database: string; readonly retentionPolicy: string },
): readonly (RecordedPoint & { readonly time: bigint })[] {
  const points: (RecordedPoint & { readonly time: bigint })[] = [];
  for (const { name, tags, columns, values } of series) {
    for (const row of values) {
      const [time] = row;
      if (typeof time !== 'bigint') continue;
      const fields = columns.slice(1).flatMap((column, i) => {
        const value = row[i + 1];
        return value === null || value === undefined ? [] : [[column, value] as const];
      });
      const line = printLine({ measurement: name, tags: Object.entries(tags), fields, time });
      if (line !== undefined) points.push({ ...source, line, time });
    }
  }
  return points.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

/** Result series with all times shifted. */
export function shiftSeries(
  series: readonly QueryResultSeries[],
  shift: bigint,
): readonly QueryResultSeries[] {
  if (shift === 0n) return series;
  return series.map((one) => ({
    ...one,
    values: one.values.map((row) => {
      const [time, ...rest] = row;
      return typeof time === 'bigint' ? [time + shift, ...rest] : row;
    }),
  }));
}

/** Latest time of result series; `undefined` when they have no rows. */
export function lastTime(series: readonly QueryResultSeries[]): bigint | undefined {
  let last: bigint | undefined;
  for (const { values } of series) {
    for (const [time] of values) {
      if (typeof time === 'bigint' && (last === undefined || time > last)) last = time;
    }
  }
  return last;
}

/** Earliest time of result series. */
export function firstTime(series: readonly QueryResultSeries[]): bigint | undefined {
  return series.find((one) => one.values.length > 0)?.values[0]?.[0] as bigint | undefined;
}
