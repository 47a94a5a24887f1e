// What waits to be inserted into the tables of one retention policy.
import type { WriteOutcome } from '@tidemark/storage';

import type { Additions } from '../shared/entries.ts';
import { RowWriter } from '../sql/row-binary.ts';
import { PointRows } from './point-rows.ts';

type Waiter = {
  readonly outcome: WriteOutcome;
  /** Of the cluster, that have rows of it. */
  readonly shards: ReadonlySet<number>;
  readonly resolve: (outcome: WriteOutcome | Promise<WriteOutcome>) => void;
  readonly reject: (reason: unknown) => void;
  /** Takes the request once more, from its beginning. */
  readonly again: () => Promise<WriteOutcome>;
};

/** What went wrong, by shard of the cluster. */
export type ShardFailures = ReadonlyMap<number, unknown>;

/** Rows of several requests, by shard of the cluster. */
export class PendingRows {
  /** The same in every row: what is inserted again is known again, and nothing else is. */
  readonly batch: bigint;
  readonly points: PointRows[];
  readonly series: readonly RowWriter[];
  waiters: Waiter[] = [];
  /** Monotonic, when the first of them came. */
  sinceMs: number | undefined;
  readonly #groups: Additions['groups'][number][] = [];
  readonly #fields: Additions['fields'][number][] = [];
  readonly #tags: Additions['tags'][number][] = [];

  constructor(shardCount: number) {
    const [batch = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    this.batch = batch;
    this.points = Array.from({ length: shardCount }, () => new PointRows(batch));
    this.series = Array.from({ length: shardCount }, () => new RowWriter());
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

  /** Says that a series has rows in a shard group, or none any more. */
  addSeries(
    shard: number,
    series: { readonly measurement: string; readonly id: bigint; readonly group: number },
    tags: ReadonlyMap<string, string> | 'gone',
  ): void {
    const writer = this.series[shard]!;
    writer.text(series.measurement);
    writer.uint64(series.id);
    writer.texts(tags === 'gone' ? [] : [...tags.keys()]);
    writer.texts(tags === 'gone' ? [] : [...tags.values()]);
    writer.uint8(tags === 'gone' ? 1 : 0);
    writer.uint64(this.batch);
    writer.uint32(series.group);
  }

  /** Points that come later rely on what was announced with these: it is announced again. */
  takeAnnouncements({ additions, series }: PendingRows, failures?: ShardFailures): void {
    if (failures === undefined) this.add(additions);
    series.forEach((rows, shard) => {
      if (failures?.has(shard) ?? true) this.series[shard]?.bytes(rows.finish());
    });
  }

  /** Rejects those who have rows of a shard that failed; these rows are no longer here. */
  rejectOn(failures: ShardFailures): void {
    this.waiters = this.waiters.filter(({ shards, reject }) => {
      const failed = [...shards].find((shard) => failures.has(shard));
      if (failed !== undefined) reject(failures.get(failed));
      return failed === undefined;
    });
    for (const shard of failures.keys()) this.points[shard] = new PointRows(this.batch);
  }

  resolve(): void {
    for (const { resolve, outcome } of this.waiters) resolve(outcome);
  }

  reject(reason: unknown): void {
    for (const { reject } of this.waiters) reject(reason);
  }

  /** Takes all requests again, in their order. */
  takeAgain(): void {
    for (const { resolve, again } of this.waiters) resolve(again());
  }
}
