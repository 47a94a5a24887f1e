// A record of the log of points: lines as a client sent them, or points of other sources, with the
// parameters that are needed to read them.
import { assert, columnValue, InvalidRequest, messageOf } from '@tidemark/core';
import type { Precision } from '@tidemark/core';
import type { LogRecord } from '@tidemark/cluster';
import { lineErrorMessage } from '@tidemark/line-protocol';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { EventCause, PointBatch, PointInput, WriteParser } from '@tidemark/runtime';
import { levelOf, TooOld } from './build.ts';
import type { Build } from './build.ts';
import { decodePoints } from './point-body.ts';

/** The metadata of a record of points. */
export type PointLabel = {
  readonly id: string;
  readonly db: string;
  readonly rp: string;
  readonly precision: Precision;
  /** Time of acceptance, in nanoseconds; the time of points without one. */
  readonly now: string;
  /** For points of loopback nodes: the last row that caused any of them. */
  readonly cause?: EventCause | undefined;
  /** How many points of that cause the log has up to this record; all of them when absent. */
  readonly count?: number | undefined;
};

/** Level of records of points (`point-body.ts`); records of lines have level 1. */
export const POINTS_LEVEL = 2;

/** A record that was read; without rows if none can be read. */
export type ReadRecord = {
  readonly batch: PointBatch;
  /** Why some of it could not be read. */
  readonly problem?: string | undefined;
};

/** The label of a record; `undefined` when it cannot be read. */
export function labelIn({ label }: LogRecord): PointLabel | undefined {
  try {
    const { id, now, ...target } = JSON.parse(label) as PointLabel;
    return { id, now: String(BigInt(now)), ...target };
  } catch {
    // Damaged, or of a newer version: the record is set aside.
    return undefined;
  }
}

/** Points with their position in the log. */
export function placed(batch: PointBatch, { sequence }: LogRecord, label?: PointLabel): PointBatch {
  return { ...batch, record: sequence, arrived: label === undefined ? 0n : BigInt(label.now) };
}

/** Reads a record. Never throws, so that readers of the log continue after a damaged record. */
export function readRecord(
  parser: WriteParser,
  record: LogRecord,
  { label, build }: { readonly label: PointLabel | undefined; readonly build: Build },
): ReadRecord {
  try {
    if (label === undefined) throw new InvalidRequest('its label cannot be read');
    const { batch, problem } = read(parser, record, { label, build });
    return { batch: placed(batch, record, label), problem };
  } catch (error) {
    const nothing = batchOfPoints({ database: '', retentionPolicy: '' }, []);
    return { batch: placed(nothing, record, label), problem: messageOf(error) };
  }
}

/** Points of a batch, one by one. */
export function* pointsOf(batch: PointBatch): Iterable<PointInput> {
  for (let row = 0; row < batch.rowCount; row++) {
    const series = batch.series.at(batch.seriesOfRow[row] ?? 0);
    const block = batch.blocks[batch.blockOfRow?.[row] ?? 0];
    assert(series !== undefined && block !== undefined, 'a row has a series and fields');
    const { name, tagKeys, tagValues } = series;
    const at = batch.rowInBlock?.[row] ?? row;
    yield {
      name,
      tags: tagKeys.map((key, i) => [key, tagValues[i] ?? ''] as const),
      fields: block.fieldNames.flatMap((field, i) => {
        const column = block.columns[i];
        const value = column === undefined ? null : columnValue(column, at);
        return value === null ? [] : [[field, value] as const];
      }),
      time: batch.times[row] ?? 0n,
    };
  }
}

/** Points of one database and policy as a batch, the same for every kind of record. */
export function batchOfPoints(
  { database, retentionPolicy }: Pick<PointBatch, 'database' | 'retentionPolicy'>,
  points: readonly PointInput[],
): PointBatch {
  const builder = new PointBatchBuilder(database, retentionPolicy);
  for (const point of points) builder.add(point);
  return builder.build();
}

function read(
  parser: WriteParser,
  { bytes, level }: LogRecord,
  { label, build }: { readonly label: PointLabel; readonly build: Build },
): Pick<ReadRecord, 'batch' | 'problem'> {
  const { db: database, rp: retentionPolicy, precision, now } = label;
  const target = { database, retentionPolicy };
  if (level > Math.min(POINTS_LEVEL, levelOf(build)))
    throw new TooOld(`the log of points has a record of level ${level}`, build);
  if (level === POINTS_LEVEL) return { batch: batchOfPoints(target, decodePoints(bytes)) };
  const { batch, errors } = parser.parse(bytes, { ...target, precision, now: BigInt(now) });
  const [first] = errors;
  return { batch, problem: first === undefined ? undefined : lineErrorMessage(first) };
}
