// Shard groups with their field types and tag keys: those that front ends have agreed on, and
// proposals of this front end for points that it is about to store.
import type { FieldType, TimeRange, Timestamp } from '@tidemark/core';
import { shardBounds } from '@tidemark/storage-api';
import type { PolicyRef } from '@tidemark/storage-api';

import { Deletes } from './deletes.ts';
import type { Delete } from './deletes.ts';
import type { Additions, MeasurementInGroup, ShardGroup, TagInGroup } from './entries.ts';
import { NameTable } from './name-table.ts';
import type { NameTableEntries } from './name-table.ts';

export type RegistryText = {
  readonly groups: readonly ShardGroup[];
  readonly nextId: number;
  readonly fields: NameTableEntries<FieldType>;
  readonly tags: NameTableEntries<true>;
  readonly deletes: readonly Delete[];
};

export class Registry {
  readonly deletes = new Deletes();
  readonly #groups = new Map<number, ShardGroup>();
  readonly #fields = new NameTable<FieldType>();
  readonly #tags = new NameTable<true>();
  readonly #proposedGroups = new Map<number, ShardGroup>();
  readonly #proposedFields = new NameTable<FieldType>();
  readonly #proposedTags = new NameTable<true>();
  #nextId = 1;

  /** Adds agreed entries. */
  add({ groups, fields, tags }: Additions): void {
    for (const group of groups) {
      this.#groups.set(group.id, group);
      this.#proposedGroups.delete(group.id);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, field, ...owner } of fields) {
      this.#fields.add(owner, field, type);
      this.#proposedFields.delete(owner, field);
    }
    for (const { tag, ...owner } of tags) {
      this.#tags.add(owner, tag, true);
      this.#proposedTags.delete(owner, tag);
    }
  }

  /** Adds proposals, so that later points are checked against them. */
  propose({ groups, fields, tags }: Additions): void {
    for (const group of groups) {
      this.#proposedGroups.set(group.id, group);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, field, ...owner } of fields) this.#proposedFields.add(owner, field, type);
    for (const { tag, ...owner } of tags) this.#proposedTags.add(owner, tag, true);
  }

  /** Removes proposals that contradict the shared log. */
  withdraw({ groups, fields, tags }: Additions): void {
    for (const { id } of groups) {
      this.#proposedGroups.delete(id);
      this.#proposedFields.deleteGroup(id);
      this.#proposedTags.deleteGroup(id);
    }
    for (const one of fields) this.#proposedFields.delete(one, one.field);
    for (const one of tags) this.#proposedTags.delete(one, one.tag);
  }

  /** The additions that are not agreed on yet. */
  missing({ groups, fields, tags }: Additions): Additions {
    return {
      groups: groups.filter(({ id }) => !this.#groups.has(id)),
      fields: fields.filter(
        ({ group, measurement, field, type }) =>
          this.#fields.of(group, measurement).get(field) !== type,
      ),
      tags: tags.filter(
        ({ group, measurement, tag }) => !this.#tags.of(group, measurement).has(tag),
      ),
    };
  }

  /** Whether additions contradict what is agreed on. */
  contradicts({ groups, fields, tags }: Additions): boolean {
    const known = [...this.#groups.values()];
    const isTaken = (group: ShardGroup): boolean =>
      known.some(
        (other) =>
          (other.id === group.id || (other.policyId === group.policyId && overlap(other, group))) &&
          !(
            other.id === group.id &&
            other.policyId === group.policyId &&
            other.start === group.start &&
            other.end === group.end
          ),
      );
    if (groups.some(isTaken)) return true;
    const here = new Set(groups.map(({ id }) => id));
    // The shard group may have been dropped.
    const isDropped = ({ group }: MeasurementInGroup): boolean =>
      !this.#groups.has(group) && !here.has(group);
    if (tags.some(isDropped)) return true;
    return fields.some((one) => {
      const { group, measurement, field, type } = one;
      if (isDropped(one)) return true;
      const held = this.#fields.of(group, measurement).get(field);
      return held !== undefined && held !== type;
    });
  }

  dropGroups(ids: readonly number[]): void {
    for (const id of ids) {
      this.#groups.delete(id);
      this.#fields.deleteGroup(id);
      this.#tags.deleteGroup(id);
    }
    this.deletes.dropGroups(ids);
  }

  dropMeasurement(groups: readonly number[], measurement: string): void {
    for (const id of groups) {
      this.#fields.deleteMeasurement(id, measurement);
      this.#tags.deleteMeasurement(id, measurement);
    }
  }

  dropTags(tags: readonly TagInGroup[]): void {
    for (const one of tags) this.#tags.delete(one, one.tag);
  }

  group(id: number): ShardGroup | undefined {
    return this.#groups.get(id);
  }

  /** Agreed shard groups that overlap a time range, in order of time. */
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

  /** The shard group of a time, agreed or proposed. */
  find(policyId: number, time: Timestamp): ShardGroup | undefined {
    for (const groups of [this.#groups, this.#proposedGroups]) {
      for (const group of groups.values()) {
        if (group.policyId === policyId && group.start <= time && time < group.end) return group;
      }
    }
    return undefined;
  }

  /** A new shard group for a time that no group of the policy contains. It is not proposed yet. */
  makeGroup(policy: PolicyRef, time: Timestamp): ShardGroup {
    const neighbours = [...this.#groups.values(), ...this.#proposedGroups.values()].filter(
      (group) => group.policyId === policy.id,
    );
    return {
      id: this.#nextId,
      policyId: policy.id,
      database: policy.database,
      retentionPolicy: policy.retentionPolicy,
      ...shardBounds(time, policy.shardDurationNanos, neighbours),
    };
  }

  /** Tag keys of a measurement in a shard group, and the empty key; none if it has no series. */
  tags(group: number, measurement: string): Iterable<string> {
    return this.#tags.of(group, measurement).keys();
  }

  hasSeries(group: number, measurement: string): boolean {
    return this.#tags.of(group, measurement).has('');
  }

  /** Measurements that have series in any of the groups. */
  measurementsOf(groups: readonly ShardGroup[]): Set<string> {
    return new Set(
      groups.flatMap(({ id }) =>
        [...this.#tags.measurements(id)].filter((name) => this.hasSeries(id, name)),
      ),
    );
  }

  /** Whether a tag key is neither agreed on nor proposed. */
  isNewTag(group: number, measurement: string, tag: string): boolean {
    return (
      !this.#tags.of(group, measurement).has(tag) &&
      !this.#proposedTags.of(group, measurement).has(tag)
    );
  }

  /** Fields of a measurement in a shard group, agreed or proposed. */
  fields(group: number, measurement: string): ReadonlyMap<string, FieldType> {
    const held = this.#fields.of(group, measurement);
    const wanted = this.#proposedFields.of(group, measurement);
    return wanted.size === 0 ? held : new Map([...wanted, ...held]);
  }

  /** Groups of a database, agreed or proposed. */
  allGroupsOf(database: string): readonly ShardGroup[] {
    return [...this.#groups.values(), ...this.#proposedGroups.values()].filter(
      (group) => group.database === database,
    );
  }

  /** The agreed fields of a measurement in these groups. */
  namesOf(groups: readonly ShardGroup[], measurement: string): Set<string> {
    return new Set(groups.flatMap(({ id }) => [...this.#fields.of(id, measurement).keys()]));
  }

  /** All types of a field of a measurement in these groups. */
  typesOf(groups: readonly ShardGroup[], measurement: string, field: string): Set<FieldType> {
    const types = new Set<FieldType>();
    for (const { id } of groups) {
      const type = this.#fields.of(id, measurement).get(field);
      if (type !== undefined) types.add(type);
    }
    return types;
  }

  print(): RegistryText {
    const groups = [...this.#groups.values()];
    const [fields, tags] = [this.#fields.entries(), this.#tags.entries()];
    return { groups, nextId: this.#nextId, fields, tags, deletes: this.deletes.all };
  }

  restore({ groups, nextId, fields, tags, deletes }: RegistryText): void {
    this.deletes.restore(deletes);
    this.#groups.clear();
    for (const group of groups) this.#groups.set(group.id, group);
    this.#fields.restore(fields);
    this.#tags.restore(tags);
    this.#nextId = Math.max(this.#nextId, nextId);
  }
}

function overlap(a: ShardGroup, b: ShardGroup): boolean {
  return a.start < b.end && b.start < a.end;
}
