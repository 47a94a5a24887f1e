// INTO: the rows of a SELECT become points of another measurement.
import { columnValue, Internal, rowsBytes, textBytes } from '@tidemark/core';
import type { UnsignedValue } from '@tidemark/core';
import type { IntoTarget, SelectStatement } from '@tidemark/influxql';

import { resolveTarget } from '../analyse/resolve-source.ts';
import type { RowBatch } from '../batch/row-batch.ts';
import { invalid } from '../compat-messages.ts';
import type { IntoPoint, PointSink, QueryContext, WriteTarget } from '../context.ts';
import { INTO_BATCH_BYTES, INTO_BATCH_ROWS } from '../limits.ts';
import { physicalStatement } from '../plan/plan-statement.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import type { ResultBatch } from '../result.ts';
import { execute } from '../execute/execute.ts';
import { IntoLines } from './into-lines.ts';
import { ExecutionContext } from '../execution/execution-context.ts';
import { flatMapBatches, waitFor } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

/** Runs the SELECT and writes its rows; answers how many points were passed on. */
export function* writeInto(
  statement: SelectStatement,
  into: IntoTarget,
  context: QueryContext,
): Operator<ResultBatch> {
  const { sink } = context;
  if (sink === undefined) throw new Internal('a statement with INTO needs a sink');
  const target = resolveTarget(into, context);
  const physical = yield* physicalStatement(statement, context, { isInto: true });
  const plan = physical.select;
  if (plan.timeColumnName !== 'time') {
    throw invalid('error finding time index in result', {
      code: 'IQL_INTO',
      span: statement.span,
      hint: 'INTO needs the time of every row: do not give it another name',
    });
  }
  const writer = new IntoWriter({ plan, into, sink, target });
  const rows = execute(physical, new ExecutionContext(context));
  yield* flatMapBatches(rows, (batch) => writer.add(batch));
  const written = yield* writer.finish();
  yield {
    name: 'result',
    columns: ['time', 'written'],
    rowCount: 1,
    values: [
      { type: 'time', values: new BigInt64Array(1), valid: undefined },
      { type: 'integer', values: BigInt64Array.of(BigInt(written)), valid: undefined },
    ],
    isContinuation: false,
  };
}

type WriterOptions = {
  readonly plan: SelectPlan;
  readonly into: IntoTarget;
  readonly sink: PointSink;
  readonly target: WriteTarget;
};

/**
 * Passes rows on in batches, in their order: as lines where sink and rows allow it, otherwise as
 * points.
 */
class IntoWriter {
  readonly #options: WriterOptions;
  readonly #lines: IntoLines | undefined;
  #points: IntoPoint[] = [];
  #written = 0;
  /** Size of the rows since the last flush. */
  #waitingBytes = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { plan, into, sink } = options;
    this.#lines = sink.writeLines === undefined ? undefined : new IntoLines(plan, into);
  }

  *add(batch: RowBatch): Steps<void> {
    const { length } = batch.times;
    const rowBytes = bytesOfRow(batch);
    for (let from = 0; from < length;) {
      const fitting = Math.ceil((INTO_BATCH_BYTES - this.#waitingBytes) / rowBytes);
      const to = Math.min(length, from + INTO_BATCH_ROWS - this.#waiting, from + fitting);
      if (this.#lines?.append(batch, from, to) !== true) this.#addPoints(batch, from, to);
      this.#waitingBytes += (to - from) * rowBytes;
      from = to;
      if (this.#waiting >= INTO_BATCH_ROWS || this.#waitingBytes >= INTO_BATCH_BYTES) {
        yield* this.#flush();
      }
    }
  }

  /** Returns how many points were passed on. */
  *finish(): Steps<number> {
    yield* this.#flush();
    return this.#written;
  }

  get #waiting(): number {
    return this.#points.length + (this.#lines?.rowCount ?? 0);
  }

  #addPoints(batch: RowBatch, from: number, to: number): void {
    const { plan, into } = this.#options;
    const tags = groupTags(batch, plan);
    for (let row = from; row < to; row++) {
      const point = pointOf(batch, row, { plan, into, tags });
      if (point !== undefined) this.#points.push(point);
    }
  }

  *#flush(): Steps<void> {
    const { sink, target } = this.#options;
    this.#waitingBytes = 0;
    const lines = this.#lines;
    if (lines !== undefined && lines.rowCount > 0) {
      const { rowCount } = lines;
      const written = sink.writeLines?.(target, lines.take());
      if (written !== undefined) yield* waitFor(written);
      this.#written += rowCount;
    }
    if (this.#points.length === 0) return;
    const points = this.#points;
    this.#points = [];
    yield* waitFor(sink.write(target, points));
    this.#written += points.length;
  }
}

/** Size of a row as a line, including the tags of its group: on average. */
function bytesOfRow({ group, times, columns }: RowBatch): number {
  let bytes = textBytes(group.name) + rowsBytes(times, columns) / Math.max(1, times.length);
  for (const value of group.tags) bytes += textBytes(value);
  return bytes;
}

type Tags = IntoPoint['tags'];

type PointParts = {
  readonly plan: SelectPlan;
  readonly into: IntoTarget;
  /** The tags of the group. */
  readonly tags: Tags;
};

function groupTags({ group }: RowBatch, plan: SelectPlan): Tags {
  const tags: (readonly [string, string])[] = [];
  for (const [i, name] of plan.dimensions.entries()) {
    const value = group.tags[i] ?? '';
    if (value !== '') tags.push([name, value]);
  }
  return tags;
}

/** The row as a point; undefined when all its fields are null. */
function pointOf(
  batch: RowBatch,
  row: number,
  { plan, into, tags: shared }: PointParts,
): IntoPoint | undefined {
  // Sinks are faster when the points of a group have one list of tags.
  let tags = shared;
  const fields: (readonly [string, IntoPoint['fields'][number][1]])[] = [];
  for (const [i, output] of plan.outputs.entries()) {
    const column = batch.columns[i];
    const value = column === undefined ? null : columnValue(column, row);
    const isNothing = value === null || Number.isNaN(value);
    if (isNothing || column === undefined) continue;
    if (output.isIntoTag && typeof value === 'string') tags = [...tags, [output.name, value]];
    else if (column.type === 'unsigned') fields.push([output.name, unsigned(value as bigint)]);
    else fields.push([output.name, value]);
  }
  if (fields.length === 0) return undefined;
  return {
    measurement: into.isBackReference ? batch.group.name : (into.measurement ?? batch.group.name),
    tags,
    fields,
    time: batch.times[row]!,
  };
}

function unsigned(value: bigint): UnsignedValue {
  return { unsigned: value };
}
