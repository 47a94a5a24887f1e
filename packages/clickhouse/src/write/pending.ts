// What waits to be inserted into the tables of one retention policy.
import type { FieldType } from '@tidemark/core';
import type { WriteOutcome } from '@tidemark/storage';

import type { ShardGroup } from '../registry/registry.ts';
import { RowWriter } from '../sql/row-binary.ts';

type Waiter = {
  readonly outcome: WriteOutcome;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (reason: unknown) => void;
};

/** Rows of several requests, by shard of the cluster. */
export class PendingRows {
  /** The same in every row: what is inserted again is known again, and nothing else is. */
  readonly batch: bigint;
  readonly points: readonly RowWriter[];
  readonly series: readonly RowWriter[];
  readonly groups = new RowWriter();
  readonly fields = new RowWriter();
  readonly waiters: Waiter[] = [];
  readonly #newGroups: ShardGroup[] = [];

  constructor(shardCount: number) {
    const [batch = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    this.batch = batch;
    this.points = Array.from({ length: shardCount }, () => new RowWriter());
    this.series = Array.from({ length: shardCount }, () => new RowWriter());
  }

  /** Groups that `groups` has rows of. */
  get newGroups(): readonly ShardGroup[] {
    return this.#newGroups;
  }

  get sizeBytes(): number {
    return this.points.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  addGroup(group: ShardGroup, isDropped = false): void {
    this.#newGroups.push(group);
    this.groups.uint32(group.id);
    this.groups.uint32(group.policyId);
    this.groups.text(group.database);
    this.groups.text(group.retentionPolicy);
    this.groups.int64(group.start);
    this.groups.int64(group.end);
    this.groups.uint8(isDropped ? 1 : 0);
    this.groups.uint64(this.batch);
  }

  /** An empty type takes the field away. */
  addField(
    place: { readonly group: number; readonly measurement: string; readonly field: string },
    type: FieldType | '',
  ): void {
    this.fields.uint32(place.group);
    this.fields.text(place.measurement);
    this.fields.text(place.field);
    this.fields.text(type);
    this.fields.uint64(this.batch);
  }

  /** Says that a series has no rows in a shard group any more. */
  addGoneSeries(
    shard: number,
    series: { readonly measurement: string; readonly id: bigint; readonly group: number },
  ): void {
    const writer = this.series[shard]!;
    writer.text(series.measurement);
    writer.uint64(series.id);
    writer.texts([]);
    writer.texts([]);
    writer.uint8(1);
    writer.uint64(this.batch);
    writer.uint32(series.group);
  }

  /** Points that come later rely on what was announced with these: it is announced again. */
  takeAnnouncements({ groups, fields, series, newGroups }: PendingRows): void {
    this.#newGroups.push(...newGroups);
    this.groups.bytes(groups.finish());
    this.fields.bytes(fields.finish());
    series.forEach((rows, shard) => this.series[shard]?.bytes(rows.finish()));
  }

  resolve(): void {
    for (const { resolve, outcome } of this.waiters) resolve(outcome);
  }

  reject(reason: unknown): void {
    for (const { reject } of this.waiters) reject(reason);
  }
}
