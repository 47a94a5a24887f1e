// query: turns results of the scheduler's queries into batches. The engine runs the queries.
import { queryNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier } from '../data/point.ts';
import { Batch, Point } from '../data/point.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { ownSchema } from '../data/schema.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import type { QueryResultSeries } from '../services.ts';

export class QueryNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { counters: this, results: this };
  readonly #ctx: ContextOf<typeof queryNode>;
  readonly #isGroupedByTime: boolean;
  #batchCount = 0;
  #pointCount = 0;

  constructor(ctx: ContextOf<typeof queryNode>) {
    this.#ctx = ctx;
    this.#isGroupedByTime = ctx.options.dimensions.some(({ kind }) => kind === 'time');
  }

  get groupCount(): number {
    return 0;
  }

  /** Each series becomes a batch. */
  result(series: readonly QueryResultSeries[], stop: bigint): void {
    for (const each of series) {
      const batch = this.#batch(each, stop);
      if (batch === undefined) continue;
      this.#batchCount++;
      this.#pointCount += batch.points.length;
      this.#ctx.out.batch(batch);
    }
  }

  failed(message: string): void {
    this.#ctx.fail('error executing query', message);
  }

  point(point: Point): void {
    this.#ctx.out.point(point);
  }

  /** Recorded batches enter here. */
  batch(batch: Batch): void {
    this.#batchCount++;
    this.#pointCount += batch.points.length;
    this.#ctx.out.batch(batch);
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#ctx.out.deleteGroup(group);
  }

  stats(): Readonly<Record<string, number>> {
    return { batches_queried: this.#batchCount, points_queried: this.#pointCount };
  }

  #batch(result: QueryResultSeries, stop: bigint): Batch | undefined {
    const { task, options } = this.#ctx;
    const tags = Object.entries(result.tags);
    const series = task.series.of(result.name, tags);
    const group = this.#ctx.groupOf(series, {
      isByName: options.isGroupedByMeasurement,
      tagNames: series.keys.names,
    });
    if (group === undefined) return undefined;
    const points: Point[] = [];
    let latest: bigint | undefined;
    for (const row of result.values) {
      const point = rowPoint(result.columns, row, { series, group });
      if (point === undefined) continue;
      points.push(point);
      if (latest === undefined || point.time > latest) latest = point.time;
    }
    const time = this.#isGroupedByTime ? (latest ?? stop) : stop;
    return new Batch(series, group, time, points);
  }
}

function rowPoint(
  columns: readonly string[],
  row: QueryResultSeries['values'][number],
  owner: { readonly series: Batch['series']; readonly group: Group },
): Point | undefined {
  const fields: { name: string; type: ValueType }[] = [];
  const own: Value[] = [];
  for (let i = 1; i < columns.length; i++) {
    const value = row[i];
    if (value === null || value === undefined) continue;
    const name = columns[i] ?? '';
    if (typeof value === 'bigint' || typeof value === 'number') {
      // Results have no field types: every number is a float, as recorded.
      fields.push({ name, type: 'float' });
      own.push(Number(value));
    } else {
      fields.push({ name, type: typeof value === 'string' ? 'string' : 'boolean' });
      own.push(value);
    }
  }
  if (fields.length === 0) return undefined;
  return Point.of({ time: row[0] as bigint, ...owner, schema: ownSchema(fields), own });
}

export const runningQuery = implement(queryNode, (ctx) => new QueryNode(ctx));
