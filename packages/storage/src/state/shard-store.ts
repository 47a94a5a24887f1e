// All shards, by id, and per policy in time order; and their owner: shards change only by the
// methods of the store. Everybody else has them read-only.
import { assert, NotFound } from '@tidemark/core';
import type { FieldType, Timestamp } from '@tidemark/core';
import { shardBounds } from '@tidemark/storage-api';
import type { Damage, PolicyRef, ShardDescriptor } from '@tidemark/storage-api';

import { firstBeyond } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { Segment } from '../segment/segment.ts';
import { SchemaChanges } from '../series/schema-version.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { SeriesSet } from '../series/series-set.ts';
import { FieldRegistry, FieldRemovals } from '../shard/field-registry.ts';
import type { FilesOfShard, Shard, UnreadableSegment } from '../shard/shard.ts';
import { withTombstones } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';

/** What the manifest, or a backup, says about a shard. */
export type StoredShard = FilesOfShard & Partial<Pick<Shard, 'unreadable' | 'seriesFileBytes'>>;

const NOTHING_STORED: StoredShard = { segments: [], tombstones: [] };

class OwnedShard implements Shard {
  readonly descriptor: ShardDescriptor;
  readonly fields: FieldRegistry;
  series = new SeriesSet();
  segments: readonly Segment[];
  tombstones: readonly Tombstone[];
  readonly unreadable: readonly UnreadableSegment[];
  frozenSequence: number | undefined;
  seriesFileBytes: number | undefined;
  isLogged = false;

  constructor(descriptor: ShardDescriptor, fields: FieldRegistry, stored: StoredShard) {
    // Copied property by property: objects that were read from a file have other shapes, and V8
    // would compile every reader for both.
    const { id, policyId, database, retentionPolicy, start, end } = descriptor;
    this.descriptor = { id, policyId, database, retentionPolicy, start, end };
    this.fields = fields;
    this.segments = stored.segments;
    this.tombstones = stored.tombstones;
    this.unreadable = stored.unreadable ?? [];
    this.seriesFileBytes = stored.seriesFileBytes;
  }

  get damage(): Damage | undefined {
    return this.unreadable[0]?.damage;
  }

  get diskBytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.info.sizeBytes, 0);
  }
}

type FieldOfShard = { readonly measurementId: number; readonly field: string };

function owned(shard: Shard): OwnedShard {
  assert(shard instanceof OwnedShard, 'the store has made every shard');
  return shard;
}

export class ShardStore {
  readonly #byId = new Map<number, Shard>();
  /**
   * By id of the policy; in time order, without overlaps. The arrays are replaced, never changed.
   */
  readonly #byPolicy = new Map<number, readonly Shard[]>();
  #nextId = 1;
  /** Policies that were dropped since the engine was opened. Their ids are never used again. */
  readonly #dropped = new Set<number>();
  readonly fieldRemovals = new FieldRemovals();
  /** Shards of which the manifest on disk may say something else, by id. */
  #touched = new Set<number>();
  readonly #versions: SchemaVersions;

  constructor(versions: SchemaVersions) {
    this.#versions = versions;
  }

  get nextId(): number {
    return this.#nextId;
  }

  reserveIds(nextId: number): void {
    this.#nextId = Math.max(this.#nextId, nextId);
  }

  /**
   * From now on rows of the policy are refused, and those that exist are hidden: its name may be
   * reused before its shards are gone.
   */
  closePolicy(id: number): void {
    this.#dropped.add(id);
    for (const { descriptor } of this.ofPolicy(id)) {
      new SchemaChanges(descriptor.database, this.#versions).names();
    }
  }

  /**
   * Ids of the shards whose entry in the manifest may have changed since the last call. A commit
   * that fails gives them back by `touch`.
   */
  takeTouched(): ReadonlySet<number> {
    const touched = this.#touched;
    this.#touched = new Set();
    return touched;
  }

  touch(ids: Iterable<number>): void {
    for (const id of ids) this.#touched.add(id);
  }

  isDropped(policyId: number): boolean {
    return this.#dropped.has(policyId);
  }

  /** Whether its policy was not dropped. */
  isVisible({ descriptor }: Shard): boolean {
    return !this.isDropped(descriptor.policyId);
  }

  /** Throws `NotFound` when the policy was dropped. */
  requirePolicy({ id, database, retentionPolicy }: PolicyRef): void {
    if (!this.isDropped(id)) return;
    throw new NotFound(
      `retention policy was dropped. database=\`${database}\` retentionPolicy=\`${retentionPolicy}\``,
    );
  }

  takeId(): number {
    return this.#nextId++;
  }

  get(id: number): Shard | undefined {
    return this.#byId.get(id);
  }

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  all(): Iterable<Shard> {
    return this.#byId.values();
  }

  get count(): number {
    return this.#byId.size;
  }

  ofPolicy(policyId: number): readonly Shard[] {
    return this.#byPolicy.get(policyId) ?? [];
  }

  /** Shards of a database, or of one of its policies, in the order of policy and time. */
  ofDatabase(database: string, retentionPolicy?: string): Shard[] {
    const result: Shard[] = [];
    for (const shards of this.#byPolicy.values()) {
      const descriptor = shards[0]?.descriptor;
      if (descriptor?.database !== database) continue;
      if (retentionPolicy !== undefined && descriptor.retentionPolicy !== retentionPolicy) continue;
      result.push(...shards);
    }
    return result;
  }

  find(policyId: number, time: Timestamp): Shard | undefined {
    const shards = this.ofPolicy(policyId);
    const shard = shards[firstEndingBehind(shards, time)];
    return shard !== undefined && shard.descriptor.start <= time ? shard : undefined;
  }

  /** The shard that holds `time`, created if there is none. */
  findOrCreate(policy: PolicyRef, time: Timestamp): Shard {
    const known = this.find(policy.id, time);
    if (known !== undefined) return known;
    const shards = this.ofPolicy(policy.id);
    const next = firstEndingBehind(shards, time);
    const neighbours = shards.slice(Math.max(0, next - 1), next + 1);
    const bounds = shardBounds(
      time,
      policy.shardDurationNanos,
      neighbours.map((shard) => shard.descriptor),
    );
    return this.add({
      id: this.#nextId,
      policyId: policy.id,
      database: policy.database,
      retentionPolicy: policy.retentionPolicy,
      ...bounds,
    });
  }

  /** Creates a shard that stays invisible until `adopt`. */
  make(descriptor: ShardDescriptor, stored: StoredShard = NOTHING_STORED): Shard {
    const changes = new SchemaChanges(descriptor.database, this.#versions);
    return new OwnedShard(descriptor, new FieldRegistry(changes, this.fieldRemovals), stored);
  }

  /** Creates a shard that is visible, and is lost with a crash until `logged`. */
  add(descriptor: ShardDescriptor): Shard {
    return this.#insert(this.make(descriptor));
  }

  /**
   * Makes a shard of `make` visible, which the manifest has. No shard of its policy overlaps it.
   */
  adopt(shard: Shard): Shard {
    this.logged(shard);
    return this.#insert(shard);
  }

  #insert(shard: Shard): Shard {
    const { descriptor } = shard;
    assert(!this.#byId.has(descriptor.id), 'a shard id is used once');
    this.#byId.set(descriptor.id, shard);
    new SchemaChanges(descriptor.database, this.#versions).names();
    const known = this.ofPolicy(descriptor.policyId);
    const place = firstEndingBehind(known, descriptor.start);
    this.#byPolicy.set(descriptor.policyId, known.toSpliced(place, 0, shard));
    this.reserveIds(descriptor.id + 1);
    return shard;
  }

  remove(id: number): Shard | undefined {
    const shard = this.#byId.get(id);
    if (shard === undefined) return undefined;
    this.#byId.delete(id);
    this.#touched.add(id);
    const { policyId, database } = shard.descriptor;
    new SchemaChanges(database, this.#versions).names();
    const rest = this.ofPolicy(policyId).filter((other) => other !== shard);
    if (rest.length === 0) this.#byPolicy.delete(policyId);
    else this.#byPolicy.set(policyId, rest);
    return shard;
  }

  /** The log or the manifest has the shard now. */
  logged(shard: Shard): void {
    const one = owned(shard);
    if (one.isLogged) return;
    one.isLogged = true;
    this.#touched.add(shard.descriptor.id);
  }

  /** A flush begins to write the shard's frozen rows, which have this place among the writes. */
  freeze(shard: Shard, sequence: number): void {
    owned(shard).frozenSequence = sequence;
  }

  /** The frozen rows are in a segment that the manifest names. */
  flushed(shard: Shard): void {
    owned(shard).frozenSequence = undefined;
  }

  /** Other segments and tombstones, which the manifest names. */
  replaceFiles(shard: Shard, { segments, tombstones }: FilesOfShard): void {
    const one = owned(shard);
    one.segments = segments;
    one.tombstones = tombstones;
    this.#touched.add(shard.descriptor.id);
  }

  /** The file of series keys has this length now; the next manifest says so. */
  seriesFileWritten(shard: Shard, sizeBytes: number): void {
    owned(shard).seriesFileBytes = sizeBytes;
    this.#touched.add(shard.descriptor.id);
  }

  addTombstones(shard: Shard, added: readonly Tombstone[]): void {
    const one = owned(shard);
    one.tombstones = withTombstones(one.tombstones, added);
    this.#touched.add(shard.descriptor.id);
  }

  /** The series has rows in the shard. An index that is not read yet counts them then. */
  addSeries(shard: Shard, series: SeriesId, index: SeriesIndex | undefined): void {
    if (owned(shard).series.add(series)) index?.addedToShard(series);
  }

  /** The series, which are in the shard, have no rows in it any more. Snapshots keep their set. */
  removeSeries(shard: Shard, series: readonly SeriesId[], index: SeriesIndex): void {
    const one = owned(shard);
    const rest = one.series.clone();
    for (const id of series) rest.delete(id);
    one.series = rest;
    index.removedFromShard(series);
  }

  setField(shard: Shard, { measurementId, field }: FieldOfShard, type: FieldType): void {
    owned(shard).fields.set(measurementId, field, type);
  }

  removeField(shard: Shard, { measurementId, field }: FieldOfShard): void {
    owned(shard).fields.remove(measurementId, field);
  }

  /** The fields of the measurement have no types in the shard any more. */
  removeFieldsOf(shard: Shard, measurementId: number): void {
    owned(shard).fields.removeMeasurement(measurementId);
  }
}

/** Index of the first shard that ends after the time. `shards` are in time order. */
function firstEndingBehind(shards: readonly Shard[], time: Timestamp): number {
  return firstBeyond(shards.length, (i) => shards[i]!.descriptor.end > time);
}
