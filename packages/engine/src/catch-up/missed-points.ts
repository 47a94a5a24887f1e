// Reads missed points of a time range from the database for a task: page by page in time order,
// with their original types.
import { InvalidRequest } from '@tidemark/core';
import type { FieldValue, Timestamp } from '@tidemark/core';
import { quoteIdentifier } from '@tidemark/influxql';
import { effectsOf } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { PointBatchBuilder, seriesText } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { AnswerTooLarge } from '../database/clusters.ts';
import type { Clusters, RawSeries } from '../database/clusters.ts';
import type { Dbrp } from '../store/records.ts';
import { CATCH_UP_PAGE_BYTES } from '../limits.ts';

export type MissedPoint = {
  readonly dbrp: Dbrp;
  readonly name: string;
  readonly tags: readonly (readonly [string, string])[];
  /** `seriesText` of its series. */
  readonly series: string;
  readonly fields: readonly (readonly [string, FieldValue])[];
  readonly time: Timestamp;
};

/** The reads of a task: its pairs, and the measurements that it uses there; none means all. */
export type Wanted = { readonly dbrp: Dbrp; readonly measurements: readonly string[] };

/** Range of times; without `stop` it has no end. */
export type Range = { readonly start: Timestamp; readonly stop: Timestamp | undefined };

/** The part of its pairs that the nodes of a pipeline use. */
export function wantedOf(pipeline: Pipeline, dbrps: readonly Dbrp[]): readonly Wanted[] {
  const reading = pipeline.nodes
    .map((node) => effectsOf(node).readsPoints)
    .filter((each) => each !== undefined);
  return dbrps.flatMap((dbrp) => {
    const taking = reading.filter(
      ({ database, retentionPolicy }) =>
        (database === '' || database === dbrp.db) &&
        (retentionPolicy === '' || retentionPolicy === dbrp.rp),
    );
    if (taking.length === 0) return [];
    const names = new Set(taking.map(({ measurement }) => measurement));
    return [{ dbrp, measurements: names.has('') ? [] : [...names] }];
  });
}

export class MissedPoints {
  readonly #clusters: Clusters;
  readonly #wanted: readonly Wanted[];
  /** Types of the fields by dbrp, measurement and name. */
  readonly #types = new Map<string, string>();

  constructor(clusters: Clusters, wanted: readonly Wanted[]) {
    this.#clusters = clusters;
    this.#wanted = wanted;
  }

  /**
   * Points of a range in order of time. Throws `AnswerTooLarge` when they are too many for one
   * page, `Unavailable` when the database does not answer.
   */
  async read(range: Range, signal: AbortSignal): Promise<readonly MissedPoint[]> {
    const points: MissedPoint[] = [];
    for (const wanted of this.#wanted) {
      const statement = selectStatement(wanted, range);
      const found = await this.#ask(statement, signal);
      for (const series of found) {
        await this.#learnTypes(wanted, series, signal);
        this.#append(points, wanted.dbrp, series);
      }
    }
    // Stable: points of one time keep the order of the database's series.
    return points.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  }

  /** A database that does not exist has no missed points. */
  async #ask(statement: string, signal: AbortSignal): Promise<readonly RawSeries[]> {
    try {
      return await this.#clusters.exact('', statement, {
        signal,
        bytesMax: CATCH_UP_PAGE_BYTES.value,
      });
    } catch (error) {
      const isMissing =
        error instanceof InvalidRequest &&
        !(error instanceof AnswerTooLarge) &&
        /^(?:database|retention policy) not found/.test(error.message);
      if (isMissing) return [];
      throw error;
    }
  }

  async #learnTypes({ dbrp }: Wanted, series: RawSeries, signal: AbortSignal): Promise<void> {
    const isKnown = (column: string): boolean =>
      column === 'time' || this.#types.has(typeKey(dbrp, series.name, column));
    if (series.columns.every(isKnown)) return;
    const from = `${dbrp.rp === '' ? '' : `${quoteIdentifier(dbrp.rp)}.`}${quoteIdentifier(series.name)}`;
    const statement = `SHOW FIELD KEYS ON ${quoteIdentifier(dbrp.db)} FROM ${from}`;
    for (const { columns, values } of await this.#ask(statement, signal)) {
      const [name, type] = [columns.indexOf('fieldKey'), columns.indexOf('fieldType')];
      for (const row of values) {
        const key = typeKey(dbrp, series.name, String(row[name]));
        // A field with several types is a float if one of them is.
        if (this.#types.get(key) !== 'float') this.#types.set(key, String(row[type]));
      }
    }
    // A field that was deleted meanwhile gets its type from its values.
    for (const column of series.columns) {
      const key = typeKey(dbrp, series.name, column);
      if (!this.#types.has(key)) this.#types.set(key, '');
    }
  }

  #append(points: MissedPoint[], dbrp: Dbrp, { name, tags, columns, values }: RawSeries): void {
    const sorted = Object.entries(tags)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const series = seriesText(
      name,
      sorted.map(([key]) => key),
      sorted.map(([, value]) => value),
    );
    const types = columns.map((column) => this.#types.get(typeKey(dbrp, name, column)) ?? '');
    const timeColumn = columns.indexOf('time');
    for (const row of values) {
      const fields: (readonly [string, FieldValue])[] = [];
      for (let i = 0; i < columns.length; i++) {
        if (i === timeColumn) continue;
        const value = fieldValue(row[i], types[i] ?? '');
        if (value !== undefined) fields.push([columns[i] ?? '', value]);
      }
      const time = BigInt(row[timeColumn] as number | bigint);
      if (fields.length > 0) points.push({ dbrp, name, tags: sorted, series, fields, time });
    }
  }
}

/** Points as batches, one for each run of the same dbrp. */
export function batchesOf(points: readonly MissedPoint[]): readonly PointBatch[] {
  const batches: PointBatch[] = [];
  let builder: PointBatchBuilder | undefined;
  let dbrp: Dbrp | undefined;
  for (const point of points) {
    if (builder === undefined || point.dbrp !== dbrp) {
      if (builder !== undefined) batches.push(builder.build());
      dbrp = point.dbrp;
      builder = new PointBatchBuilder(dbrp.db, dbrp.rp);
    }
    builder.add(point);
  }
  if (builder !== undefined) batches.push(builder.build());
  return batches;
}

function selectStatement({ dbrp, measurements }: Wanted, { start, stop }: Range): string {
  const policy = dbrp.rp === '' ? '' : quoteIdentifier(dbrp.rp);
  const prefix = `${quoteIdentifier(dbrp.db)}.${policy}.`;
  const sources = measurements.map((name) => prefix + quoteIdentifier(name));
  if (sources.length === 0) sources.push(`${prefix}/.*/`);
  const end = stop === undefined ? '' : ` AND time < ${stop}`;
  return `SELECT * FROM ${sources.join(', ')} WHERE time >= ${start}${end} GROUP BY *`;
}

function typeKey({ db, rp }: Dbrp, measurement: string, field: string): string {
  return `${db}\u0000${rp}\u0000${measurement}\u0000${field}`;
}

function fieldValue(cell: unknown, type: string): FieldValue | undefined {
  switch (typeof cell) {
    case 'number':
      return type === 'integer' || type === 'unsigned' ? BigInt(cell) : cell;
    case 'bigint':
      // Integers beyond the signed range become negative, as in every write.
      return type === 'float' ? Number(cell) : BigInt.asIntN(64, cell);
    case 'string':
    case 'boolean':
      return cell;
    default:
      return undefined;
  }
}
