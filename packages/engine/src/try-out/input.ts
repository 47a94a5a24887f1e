// The request of a try-out: a definition that is not stored, and its input.
import { InvalidRequest } from '@tidemark/core';
import type { Precision, Timestamp } from '@tidemark/core';
import { lineErrorMessage, parseLines, printLine, signedValue } from '@tidemark/line-protocol';
import type { RecordedPoint } from '../jobs/recording-file.ts';
import type { Dbrp } from '../store/records.ts';
import type { TaskInput } from '../tasks/task-change.ts';

export type TryOutSource =
  | { readonly kind: 'recording'; readonly recording: string }
  /** Data of the database in a span of time: points, or the answers to the queries of a batch. */
  | { readonly kind: 'database'; readonly start: Timestamp; readonly stop: Timestamp }
  /** Line protocol, in the given order. */
  | { readonly kind: 'points'; readonly lines: string; readonly precision: Precision };

export type TryOutInput = {
  readonly task: TaskInput;
  readonly source: TryOutSource;
  /** How far the clock continues after the last of the data. */
  readonly goesOnNanos: bigint;
};

/** Points as they were typed. Throws `InvalidRequest` for the first invalid line. */
export function typedPoints(
  { lines, precision }: TryOutSource & { readonly kind: 'points' },
  { dbrp, now }: { readonly dbrp: Dbrp; readonly now: Timestamp },
): readonly RecordedPoint[] {
  const { points, errors } = parseLines(new TextEncoder().encode(lines), { precision, now });
  const [error] = errors;
  if (error !== undefined) {
    throw new InvalidRequest(`line ${error.lineNumber}: ${lineErrorMessage(error)}`);
  }
  if (points.length === 0) throw new InvalidRequest('no points are given');
  return points.flatMap(({ measurement, tags, fields, time }) => {
    const plain = fields.map(([name, value]) => [name, signedValue(value)] as const);
    const line = printLine({ measurement, tags, fields: plain, time });
    if (line === undefined) return [];
    return [{ database: dbrp.db, retentionPolicy: dbrp.rp, line }];
  });
}
