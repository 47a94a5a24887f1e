// What waits to be inserted into the tables of one retention policy.
import type { WriteOutcome } from '@tidemark/storage';

import type { Additions } from '../shared/entries.ts';
import { PointRows } from './point-rows.ts';
import { SeriesRows } from './series-rows.ts';

type Waiter = {
  readonly outcome: WriteOutcome;
  /** Cluster shards that have rows of the request. */
  readonly shards: ReadonlySet<number>;
  readonly resolve: (outcome: WriteOutcome | Promise<WriteOutcome>) => void;
  readonly reject: (reason: unknown) => void;
  /** Parses the request again, from its beginning. */
  readonly retry: () => Promise<WriteOutcome>;
};

/** What went wrong, by shard of the cluster. */
export type ShardFailures = ReadonlyMap<number, unknown>;

/** Rows of several requests, by shard of the cluster. */
export class PendingRows {
  readonly points: readonly PointRows[];
  readonly series: readonly SeriesRows[];
  waiters: Waiter[] = [];
  /** Monotonic, when the first request came. */
  sinceMs: number | undefined;
  /**
   * How often announcements were forgotten before the first row was added: rows that were added
   * before the last time rely on announcements that a delete or a drop has undone.
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

  /** What has to be agreed on before the rows are inserted. */
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

  /** Says that a series has rows in a shard group. */
  addSeries(
    shard: number,
    series: { readonly measurement: string; readonly id: bigint; readonly group: number },
    tags: ReadonlyMap<string, string>,
  ): void {
    const [tagKeys, tagValues] = [[...tags.keys()], [...tags.values()]];
    this.series[shard]!.add({ ...series, tagKeys, tagValues });
  }

  /** Points that come later rely on what was announced with these: it is announced again. */
  takeAnnouncements({ additions, series }: PendingRows, failures?: ShardFailures): void {
    if (failures === undefined) this.add(additions);
    series.forEach((rows, shard) => {
      if (failures?.has(shard) ?? true) this.series[shard]?.append(rows);
    });
  }

  /** Rejects the requests that have rows of a shard that failed; their rows are still here. */
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

  /** Parses all requests again, in their order. */
  retry(): void {
    for (const { resolve, retry } of this.waiters) resolve(retry());
  }
}
