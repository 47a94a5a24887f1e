// All shards: by id, and per policy in time order.
import { assert, NotFound } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

import { SchemaChanges } from '../series/schema-version.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import { FieldRegistry, FieldRemovals } from './field-registry.ts';
import { firstBeyond } from '../columns/search.ts';
import type { PolicyRef } from '../storage-engine.ts';
import { shardBounds } from './shard-bounds.ts';
import { Shard } from './shard.ts';
import type { ShardDescriptor } from '../storage-engine.ts';

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
  make(descriptor: ShardDescriptor): Shard {
    const changes = new SchemaChanges(descriptor.database, this.#versions);
    return new Shard(descriptor, new FieldRegistry(changes, this.fieldRemovals));
  }

  add(descriptor: ShardDescriptor): Shard {
    return this.adopt(this.make(descriptor));
  }

  /** Makes a shard of `make` visible. No shard of its policy overlaps it. */
  adopt(shard: Shard): Shard {
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
    const { policyId, database } = shard.descriptor;
    new SchemaChanges(database, this.#versions).names();
    const rest = this.ofPolicy(policyId).filter((other) => other !== shard);
    if (rest.length === 0) this.#byPolicy.delete(policyId);
    else this.#byPolicy.set(policyId, rest);
    return shard;
  }
}

/** Index of the first shard that ends after the time. `shards` are in time order. */
function firstEndingBehind(shards: readonly Shard[], time: Timestamp): number {
  return firstBeyond(shards.length, (i) => shards[i]!.descriptor.end > time);
}
