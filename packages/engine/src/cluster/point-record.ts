// A record of the log of points: lines as they came, and beside them what they are read with.
import { assert } from '@tidemark/core';
import type { LogRecord } from '@tidemark/cluster';
import type { Precision } from '@tidemark/line-protocol';
import type { PointBatch, WriteParser } from '@tidemark/runtime';
import { TooOld } from './build.ts';
import type { Build } from './build.ts';

/** What a record says about its lines. */
export type PointLabel = {
  readonly id: string;
  readonly db: string;
  readonly rp: string;
  readonly precision: Precision;
  /** When it was accepted, in nanoseconds; the time of points without one. */
  readonly now: string;
};

/** Of the records that are read and written here. */
const LEVEL = 1;

/** What a record says of itself. Throws `TooOld` for one of a newer version. */
export function labelOf({ label, level }: LogRecord, build: Build): PointLabel {
  if (level > LEVEL) throw new TooOld(`the log of points has a record of level ${level}`, build);
  return JSON.parse(label) as PointLabel;
}

/**
 * Reads the lines of a record, which were found to be right before they were kept. Throws as
 * `labelOf` does.
 */
export function batchOf(parser: WriteParser, record: LogRecord, build: Build): PointBatch {
  const { bytes, sequence } = record;
  const { db, rp, precision, now } = labelOf(record, build);
  const { batch, errors } = parser.parse(bytes, {
    database: db,
    retentionPolicy: rp,
    precision,
    now: BigInt(now),
  });
  assert(errors.length === 0, 'lines were read before they were kept');
  return { ...batch, record: sequence, arrived: BigInt(now) };
}
