// Converts points between their forms: batches of columns, line protocol, result series.
import { columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { parseLines, printLine, signedValue } from '@tidemark/line-protocol';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch, QueryResultSeries } from '@tidemark/runtime';
import type { RecordedPoint } from './recording-file.ts';

/** The points of a batch as lines, filtered by measurement; no measurements means all. */
export function* recordedPoints(
  batch: PointBatch,
  measurements: ReadonlySet<string>,
): Iterable<RecordedPoint & { readonly time: bigint }> {
  const { database, retentionPolicy } = batch;
  for (let row = 0; row < batch.rowCount; row++) {
    const series = batch.series.at(batch.seriesOfRow[row] ?? 0);
    const block = batch.blocks[batch.blockOfRow?.[row] ?? 0];
    if (series === undefined || block === undefined) continue;
    if (measurements.size > 0 && !measurements.has(series.name)) continue;
    const at = batch.rowInBlock?.[row] ?? row;
    const fields: [string, FieldValue][] = [];
    block.fieldNames.forEach((name, i) => {
      const column = block.columns[i];
      const value = column === undefined ? null : columnValue(column, at);
      if (value !== null) fields.push([name, value]);
    });
    const time = batch.times[row] ?? 0n;
    const tags = series.tagKeys.map((key, i) => [key, series.tagValues[i] ?? ''] as const);
    const line = printLine({ measurement: series.name, tags, fields, time });
    if (line !== undefined) yield { database, retentionPolicy, line, time };
  }
}

/** Time of a recorded point. */
export function timeOfLine(line: string): bigint {
  return BigInt(line.slice(line.lastIndexOf(' ') + 1));
}

/** A batch of recorded points of one database and policy, their times shifted. */
export function batchOf(points: readonly RecordedPoint[], shift: bigint): PointBatch {
  const [first] = points;
  const builder = new PointBatchBuilder(first?.database ?? '', first?.retentionPolicy ?? '');
  const body = Buffer.from(points.map((point) => point.line).join('\n'));
  const { points: parsed } = parseLines(body, { precision: 'ns', now: 0n });
  for (const { measurement, tags, fields, time } of parsed) {
    const plain = fields.map(([name, value]) => [name, signedValue(value)] as const);
    builder.add({ name: measurement, tags, fields: plain, time: time + shift });
  }
  return builder.build();
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
