// What every front end keeps in memory of the cluster: shard groups and the types of fields in
// them. Both are stored before the first point that needs them is acknowledged.
import type { FieldType, TimeRange, Timestamp } from '@tidemark/core';
import { shardBounds } from '@tidemark/storage';
import type { PolicyRef } from '@tidemark/storage';

import type { Cluster } from '../cluster/cluster.ts';
import { RowReader } from '../sql/row-binary.ts';
import { FIELDS_TABLE, GROUPS_TABLE } from '../sql/tables.ts';

/** A span of time of a retention policy. Half-open: [start, end). */
export type ShardGroup = {
  /** Never given twice. */
  readonly id: number;
  readonly policyId: number;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** By name of the field. */
export type FieldTypes = ReadonlyMap<string, FieldType>;

export class Registry {
  readonly #groups = new Map<number, ShardGroup>();
  /** Shard group -> measurement -> field -> type. */
  readonly #fields = new Map<number, Map<string, Map<string, FieldType>>>();
  /** Groups that the cluster has, too: only these may hold points. */
  readonly #stored = new Set<number>();
  #nextId = 1;

  /** Reads what is stored. */
  static async load(cluster: Cluster): Promise<Registry> {
    const registry = new Registry();
    const groups = new RowReader(
      await cluster.rowsOfAny(
        `SELECT id, policy, database, retention_policy, start, stop
         FROM ${cluster.table(GROUPS_TABLE)} FINAL WHERE NOT is_dropped`,
      ),
    );
    while (groups.hasMore) {
      const id = groups.uint32();
      registry.addGroup({
        id,
        policyId: groups.uint32(),
        database: groups.text(),
        retentionPolicy: groups.text(),
        start: groups.int64(),
        end: groups.int64(),
      });
      registry.markStored(id);
    }
    const last = new RowReader(
      await cluster.rowsOfAny(`SELECT max(id) FROM ${cluster.table(GROUPS_TABLE)}`),
    );
    if (last.hasMore) registry.#nextId = Math.max(registry.#nextId, last.uint32() + 1);
    const fields = new RowReader(
      await cluster.rowsOfAny(
        `SELECT grp, measurement, field, type FROM ${cluster.table(FIELDS_TABLE)} FINAL`,
      ),
    );
    while (fields.hasMore) {
      const place = { group: fields.uint32(), measurement: fields.text(), field: fields.text() };
      const type = fields.text();
      // An empty type takes the field away.
      if (type !== '') registry.addField(place, type as FieldType);
    }
    return registry;
  }

  addGroup(group: ShardGroup): void {
    this.#groups.set(group.id, group);
    this.#nextId = Math.max(this.#nextId, group.id + 1);
  }

  markStored(id: number): void {
    this.#stored.add(id);
  }

  removeGroup(id: number): void {
    this.#groups.delete(id);
    this.#stored.delete(id);
    this.#fields.delete(id);
  }

  group(id: number): ShardGroup | undefined {
    return this.#groups.get(id);
  }

  /** Groups that may hold points, in the order of time. */
  storedGroups(
    wanted: (group: ShardGroup) => boolean,
    timeRange?: TimeRange | undefined,
  ): readonly ShardGroup[] {
    return this.groupsOf(wanted, timeRange).filter(({ id }) => this.#stored.has(id));
  }

  /** In the order of time. */
  groupsOf(
    wanted: (group: ShardGroup) => boolean,
    timeRange?: TimeRange | undefined,
  ): readonly ShardGroup[] {
    return [...this.#groups.values()]
      .filter(
        (group) =>
          wanted(group) &&
          (timeRange === undefined ||
            (group.start <= timeRange.end && group.end > timeRange.start)),
      )
      .sort((a, b) => (a.start < b.start ? -1 : 1));
  }

  find(policyId: number, time: Timestamp): ShardGroup | undefined {
    for (const group of this.#groups.values()) {
      if (group.policyId === policyId && group.start <= time && time < group.end) return group;
    }
    return undefined;
  }

  /** A group for `time`, which is in none of the policy; not kept yet. */
  makeGroup(policy: PolicyRef, time: Timestamp): ShardGroup {
    const neighbours = this.groupsOf((group) => group.policyId === policy.id);
    return {
      id: this.#nextId++,
      policyId: policy.id,
      database: policy.database,
      retentionPolicy: policy.retentionPolicy,
      ...shardBounds(time, policy.shardDurationNanos, neighbours),
    };
  }

  addField(
    place: { readonly group: number; readonly measurement: string; readonly field: string },
    type: FieldType,
  ): void {
    let measurements = this.#fields.get(place.group);
    if (measurements === undefined) this.#fields.set(place.group, (measurements = new Map()));
    let fields = measurements.get(place.measurement);
    if (fields === undefined) measurements.set(place.measurement, (fields = new Map()));
    if (!fields.has(place.field)) fields.set(place.field, type);
  }

  /** Fields of a measurement in a shard group. */
  fields(group: number, measurement: string): FieldTypes {
    return this.#fields.get(group)?.get(measurement) ?? new Map();
  }

  forgetFields(group: number, measurement: string): void {
    this.#fields.get(group)?.delete(measurement);
  }

  /** Every field of a measurement in these groups. */
  namesOf(groups: readonly ShardGroup[], measurement: string): Set<string> {
    return new Set(groups.flatMap(({ id }) => [...this.fields(id, measurement).keys()]));
  }

  /** Every type that a field of a measurement has in these groups. */
  typesOf(groups: readonly ShardGroup[], measurement: string, field: string): Set<FieldType> {
    const types = new Set<FieldType>();
    for (const { id } of groups) {
      const type = this.fields(id, measurement).get(field);
      if (type !== undefined) types.add(type);
    }
    return types;
  }
}
