// Shard groups and the types of fields in them: what front ends agreed on, and what this one wants
// for points that it is about to store.
import type { FieldType, TimeRange, Timestamp } from '@tidemark/core';
import { shardBounds } from '@tidemark/storage';
import type { PolicyRef } from '@tidemark/storage';

import type { Additions, ShardGroup } from './entries.ts';
import { FieldTable } from './field-table.ts';
import type { FieldEntries, FieldTypes } from './field-table.ts';

export type RegistryText = {
  readonly groups: readonly ShardGroup[];
  readonly nextId: number;
  readonly fields: FieldEntries;
};

export class Registry {
  readonly #groups = new Map<number, ShardGroup>();
  readonly #fields = new FieldTable();
  readonly #wantedGroups = new Map<number, ShardGroup>();
  readonly #wantedFields = new FieldTable();
  #nextId = 1;

  /** Takes what was agreed on. */
  add({ groups, fields }: Additions): void {
    for (const group of groups) {
      this.#groups.set(group.id, group);
      this.#wantedGroups.delete(group.id);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, ...place } of fields) {
      this.#fields.add(place, type);
      this.#wantedFields.delete(place);
    }
  }

  /** Takes what this front end will ask for, so that what follows is checked against it. */
  want({ groups, fields }: Additions): void {
    for (const group of groups) {
      this.#wantedGroups.set(group.id, group);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, ...place } of fields) this.#wantedFields.add(place, type);
  }

  /** Forgets what this front end has asked for in vain. */
  unwant({ groups, fields }: Additions): void {
    for (const { id } of groups) {
      this.#wantedGroups.delete(id);
      this.#wantedFields.deleteGroup(id);
    }
    for (const place of fields) this.#wantedFields.delete(place);
  }

  /** What of it is not agreed on. */
  missing({ groups, fields }: Additions): Additions {
    return {
      groups: groups.filter(({ id }) => !this.#groups.has(id)),
      fields: fields.filter(
        ({ group, measurement, field, type }) =>
          this.#fields.typesOf(group, measurement).get(field) !== type,
      ),
    };
  }

  /** Whether others have agreed on something else meanwhile. */
  contradicts({ groups, fields }: Additions): boolean {
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
    return fields.some(({ group, measurement, field, type }) => {
      // The group itself may have been dropped.
      if (!this.#groups.has(group) && !here.has(group)) return true;
      const held = this.#fields.typesOf(group, measurement).get(field);
      return held !== undefined && held !== type;
    });
  }

  dropGroups(ids: readonly number[]): void {
    for (const id of ids) {
      this.#groups.delete(id);
      this.#fields.deleteGroup(id);
    }
  }

  dropMeasurement(groups: readonly number[], measurement: string): void {
    for (const id of groups) this.#fields.deleteMeasurement(id, measurement);
  }

  group(id: number): ShardGroup | undefined {
    return this.#groups.get(id);
  }

  /** Groups that may hold points, in the order of time. */
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

  /** Also of those that this front end wants. */
  find(policyId: number, time: Timestamp): ShardGroup | undefined {
    for (const groups of [this.#groups, this.#wantedGroups]) {
      for (const group of groups.values()) {
        if (group.policyId === policyId && group.start <= time && time < group.end) return group;
      }
    }
    return undefined;
  }

  /** A group for `time`, which is in none of the policy; not wanted yet. */
  makeGroup(policy: PolicyRef, time: Timestamp): ShardGroup {
    const neighbours = [...this.#groups.values(), ...this.#wantedGroups.values()].filter(
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

  /** Fields of a measurement in a shard group. */
  fields(group: number, measurement: string): FieldTypes {
    const held = this.#fields.typesOf(group, measurement);
    const wanted = this.#wantedFields.typesOf(group, measurement);
    return wanted.size === 0 ? held : new Map([...wanted, ...held]);
  }

  /** Groups of a database, also those that this front end wants. */
  allGroupsOf(database: string): readonly ShardGroup[] {
    return [...this.#groups.values(), ...this.#wantedGroups.values()].filter(
      (group) => group.database === database,
    );
  }

  /** Every field of a measurement in these groups. */
  namesOf(groups: readonly ShardGroup[], measurement: string): Set<string> {
    return new Set(groups.flatMap(({ id }) => [...this.#fields.typesOf(id, measurement).keys()]));
  }

  /** Every type that a field of a measurement has in these groups. */
  typesOf(groups: readonly ShardGroup[], measurement: string, field: string): Set<FieldType> {
    const types = new Set<FieldType>();
    for (const { id } of groups) {
      const type = this.#fields.typesOf(id, measurement).get(field);
      if (type !== undefined) types.add(type);
    }
    return types;
  }

  print(): RegistryText {
    const groups = [...this.#groups.values()];
    return { groups, nextId: this.#nextId, fields: this.#fields.entries() };
  }

  restore({ groups, nextId, fields }: RegistryText): void {
    this.#groups.clear();
    this.#fields.clear();
    for (const group of groups) this.#groups.set(group.id, group);
    this.#fields.addAll(fields);
    this.#nextId = Math.max(this.#nextId, nextId);
  }
}

function overlap(a: ShardGroup, b: ShardGroup): boolean {
  return a.start < b.end && b.start < a.end;
}
