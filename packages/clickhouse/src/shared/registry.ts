// Shard groups, and the types of fields and the tag keys in them: what front ends agreed on, and
// what this one wants for points that it is about to store.
import type { FieldType, TimeRange, Timestamp } from '@tidemark/core';
import { shardBounds } from '@tidemark/storage';
import type { PolicyRef } from '@tidemark/storage';

import { Deletes } from './deletes.ts';
import type { Delete } from './deletes.ts';
import type { Additions, MeasurementPlace, ShardGroup, TagPlace } from './entries.ts';
import { PlaceTable } from './place-table.ts';
import type { PlaceEntries } from './place-table.ts';

export type RegistryText = {
  readonly groups: readonly ShardGroup[];
  readonly nextId: number;
  readonly fields: PlaceEntries<FieldType>;
  readonly tags: PlaceEntries<true>;
  readonly deletes: readonly Delete[];
};

export class Registry {
  readonly deletes = new Deletes();
  readonly #groups = new Map<number, ShardGroup>();
  readonly #fields = new PlaceTable<FieldType>();
  readonly #tags = new PlaceTable<true>();
  readonly #wantedGroups = new Map<number, ShardGroup>();
  readonly #wantedFields = new PlaceTable<FieldType>();
  readonly #wantedTags = new PlaceTable<true>();
  #nextId = 1;

  /** Takes what was agreed on. */
  add({ groups, fields, tags }: Additions): void {
    for (const group of groups) {
      this.#groups.set(group.id, group);
      this.#wantedGroups.delete(group.id);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, field, ...place } of fields) {
      this.#fields.add(place, field, type);
      this.#wantedFields.delete(place, field);
    }
    for (const { tag, ...place } of tags) {
      this.#tags.add(place, tag, true);
      this.#wantedTags.delete(place, tag);
    }
  }

  /** Takes what this front end will ask for, so that what follows is checked against it. */
  want({ groups, fields, tags }: Additions): void {
    for (const group of groups) {
      this.#wantedGroups.set(group.id, group);
      this.#nextId = Math.max(this.#nextId, group.id + 1);
    }
    for (const { type, field, ...place } of fields) this.#wantedFields.add(place, field, type);
    for (const { tag, ...place } of tags) this.#wantedTags.add(place, tag, true);
  }

  /** Forgets what this front end has asked for in vain. */
  unwant({ groups, fields, tags }: Additions): void {
    for (const { id } of groups) {
      this.#wantedGroups.delete(id);
      this.#wantedFields.deleteGroup(id);
      this.#wantedTags.deleteGroup(id);
    }
    for (const place of fields) this.#wantedFields.delete(place, place.field);
    for (const place of tags) this.#wantedTags.delete(place, place.tag);
  }

  /** What of it is not agreed on. */
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

  /** Whether others have agreed on something else meanwhile. */
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
    // The group itself may have been dropped.
    const isGone = ({ group }: MeasurementPlace): boolean =>
      !this.#groups.has(group) && !here.has(group);
    if (tags.some(isGone)) return true;
    return fields.some((place) => {
      const { group, measurement, field, type } = place;
      if (isGone(place)) return true;
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

  dropTags(places: readonly TagPlace[]): void {
    for (const place of places) this.#tags.delete(place, place.tag);
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

  /** Tag keys of a measurement in a shard group, with an empty one; none when it has no series. */
  tags(group: number, measurement: string): Iterable<string> {
    return this.#tags.of(group, measurement).keys();
  }

  hasSeries(group: number, measurement: string): boolean {
    return this.#tags.of(group, measurement).has('');
  }

  /** Measurements with series in some of the groups. */
  measurementsOf(groups: readonly ShardGroup[]): Set<string> {
    return new Set(
      groups.flatMap(({ id }) =>
        [...this.#tags.measurements(id)].filter((name) => this.hasSeries(id, name)),
      ),
    );
  }

  /** Whether it has to be agreed on: also when this front end does not want it yet. */
  isNewTag(group: number, measurement: string, tag: string): boolean {
    return (
      !this.#tags.of(group, measurement).has(tag) &&
      !this.#wantedTags.of(group, measurement).has(tag)
    );
  }

  /** Fields of a measurement in a shard group. */
  fields(group: number, measurement: string): ReadonlyMap<string, FieldType> {
    const held = this.#fields.of(group, measurement);
    const wanted = this.#wantedFields.of(group, measurement);
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
    return new Set(groups.flatMap(({ id }) => [...this.#fields.of(id, measurement).keys()]));
  }

  /** Every type that a field of a measurement has in these groups. */
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
