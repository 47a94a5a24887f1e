// Rows that wait to be inserted into the tables of one retention policy.
import type { WriteOutcome } from '@tidemark/storage-api';

import type { Additions } from '../shared/entries.ts';
import { PointRows } from './point-rows.ts';
import { SeriesRows } from './series-rows.ts';

type Waiter = {
  readonly outcome: WriteOutcome;
  /** Cluster shards that have rows of the request. */
  readonly shards: ReadonlySet<number>;
  readonly resolve: (outcome: WriteOutcome | Promise<WriteOutcome>) => void;
  readonly reject: (reason: unknown) => void;
  /** Parses the whole request again. */
  readonly retry: () => Promise<WriteOutcome>;
};

/** Errors by shard of the cluster. */
export type ShardFailures = ReadonlyMap<number, unknown>;

/** The rows of several requests, by shard of the cluster. */
export class PendingRows {
  readonly points: readonly PointRows[];
  readonly series: readonly SeriesRows[];
  waiters: Waiter[] = [];
  /** Monotonic; when the first request arrived. */
  sinceMs: number | undefined;
  /**
   * The writer's epoch when the first row was added. Rows of an earlier epoch rely on announcements
   * of series that a delete or drop has undone.
   */
  readonly epoch: number;
  readonly #groups: Additions['groups'][number][] = [];
  readonly #fields: Additions['fields'][number][] = [];
  readonly #tags: Additions['tags'][number][] = [];

  constructor(shardCount: number, epoch: number) {
    this.epoch = epoch;
    this.points = Array.from({ length: shardCount }, () => new PointRows());
    this.series = Array.from({ length: shardCount }, () => new SeriesRows());
  }

  /** Additions to the shared log that must be agreed on before the rows are inserted. */
  get additions(): Additions {
    return { groups: this.#groups, fields: this.#fields, tags: this.#tags };
  }

  get sizeBytes(): number {
    return [...this.points, ...this.series].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  add({ groups, fields, tags }: Additions): void {
    this.#groups.push(...groups);
    for (const field of fields) this.#fields.push(field);
    for (const tag of tags) this.#tags.push(tag);
  }

  /** Announces that a series has rows in a shard group. */
  addSeries(
    shard: number,
    series: { readonly measurement: string; readonly id: bigint; readonly group: number },
    tags: ReadonlyMap<string, string>,
  ): void {
    const [tagKeys, tagValues] = [[...tags.keys()], [...tags.values()]];
    this.series[shard]!.add({ ...series, tagKeys, tagValues });
  }

  /**
   * Takes over the announcements of rows that are not inserted, because later points rely on them.
   */
  takeAnnouncements({ additions, series }: PendingRows, failures?: ShardFailures): void {
    if (failures === undefined) this.add(additions);
    series.forEach((rows, shard) => {
      if (failures?.has(shard) ?? true) this.series[shard]?.append(rows);
    });
  }

  /** Rejects and removes the requests that have rows of a failed shard, but not their rows. */
  rejectOn(failures: ShardFailures): void {
    this.waiters = this.waiters.filter(({ shards, reject }) => {
      const failed = [...shards].find((shard) => failures.has(shard));
      if (failed !== undefined) reject(failures.get(failed));
      return failed === undefined;
    });
  }

  resolve(): void {
    for (const { resolve, outcome } of this.waiters) resolve(outcome);
  }

  reject(reason: unknown): void {
    for (const { reject } of this.waiters) reject(reason);
  }

  /** Parses all requests again, in order. */
  retry(): void {
    for (const { resolve, retry } of this.waiters) resolve(retry());
  }
}
