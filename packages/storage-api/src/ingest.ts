// Ingest: parses and checks the points of write requests. A request is taken in parts, because a
// long one would keep everything else waiting. What becomes of the rows is up to the storage.
import { isUtf8 } from 'node:buffer';

import type { FieldType, Timestamp } from '@tidemark/core';
import { IngestKernel } from '@tidemark/kernels';
import type { Batch, IngestHost, IngestShard, SeriesKeys } from '@tidemark/kernels';
import { parseLines } from '@tidemark/line-protocol';

import { canonicalTags } from './canonical-tags.ts';
import { badLineLimit, shardLimit } from './limit-messages.ts';
import { LIMITS } from './limits.ts';
import type { OutcomeCollector } from './outcome-collector.ts';
import type { PolicyRef, WriteLinesRequest, WritePointsRequest } from './writes.ts';

export type IngestSettings = {
  /** Accept `1u` in line protocol. */
  readonly allowUnsigned: boolean;
  /** `measurement`: a field has one type in all shards. `shard`: one type in each. */
  readonly fieldTypes: 'shard' | 'measurement';
  /** Limit per write; 0 means no limit. */
  readonly maxShards: number;
  /** Lines that cannot be parsed, per write; 0 means no limit. */
  readonly maxBadLines: number;
  /** Bytes of a text; points with a longer one are refused. 0 means no limit. */
  readonly maxTextBytes: number;
  /** Size of a part of a body in memory; by default that of the kernel. */
  readonly partBytes?: number | undefined;
};

export const INGEST_DEFAULTS: IngestSettings = {
  allowUnsigned: false,
  fieldTypes: 'shard',
  maxShards: LIMITS.shardsPerWrite.value,
  maxBadLines: LIMITS.badLines.value,
  maxTextBytes: LIMITS.textBytes.value,
};

/** The shards of one database, as ingest needs them. */
export interface IngestShards {
  find(policyId: number, time: Timestamp): IngestShard | undefined;
  /** Creates the shard for a time that is in none. */
  create(policy: PolicyRef, time: Timestamp): IngestShard;
  /** Ids of all shards. */
  ids(): readonly number[];
  /** Types of a measurement's fields in one shard. */
  fieldTypes(
    shardId: number,
    measurement: string,
  ): Iterable<readonly [field: string, type: FieldType]>;
}

export type IngestOptions = {
  readonly series: SeriesKeys;
  readonly shards: IngestShards;
  readonly settings: IngestSettings;
  /** Tables whose columns would be mostly empty may be sparse. */
  readonly allowsSparse?: boolean | undefined;
};

/** A write in progress. */
export type IngestTarget = {
  readonly policy: PolicyRef;
  /** Ids of the shards that the request has points for, so far. */
  readonly used: Set<number>;
  readonly outcome: OutcomeCollector;
  /** As in `IngestHost`. */
  readonly admitSeries: IngestHost['admitSeries'];
};

/** A part of a request. The tables of its batch are valid until the next part is taken. */
export type IngestedPart = {
  readonly batch: Batch;
  /** Where the next part begins; `undefined` after the last one. */
  readonly next: number | undefined;
};

/** Bad lines are parsed a second time for their errors: some ten milliseconds for so many. */
const BAD_LINES_PER_PART = 1000;
/** Points of `points` per part: some milliseconds of work. */
const POINTS_PER_PART = 1 << 12;

/** Ingest into one database. */
export class Ingest {
  readonly #kernel: IngestKernel;
  readonly #shards: IngestShards;
  readonly #settings: IngestSettings;

  constructor({ series, shards, settings, allowsSparse }: IngestOptions) {
    const { allowUnsigned, maxTextBytes, partBytes } = settings;
    this.#shards = shards;
    this.#settings = settings;
    this.#kernel = new IngestKernel({
      series,
      textBytesMax: maxTextBytes,
      allowsSparse,
      batchBytesMax: partBytes,
      parseLine: (line, options) => parseLines(line, { ...options, allowUnsigned }),
    });
  }

  /** Field types may have changed: they are requested again with the next part. */
  forgetTypes(): void {
    this.#kernel.forgetTypes();
  }

  /**
   * The part of a request that begins at a byte of its body, which is valid UTF-8 (`validBody`);
   * usually all of it. The outcome is complete after the last part.
   */
  lines(request: WriteLinesRequest, from: number, target: IngestTarget): IngestedPart {
    const { body, precision, now, isDetailed } = request;
    const { outcome } = target;
    const { maxBadLines } = this.#settings;
    const left = maxBadLines === 0 ? Infinity : maxBadLines - outcome.parseErrorCount;
    const parseErrorsMax = Math.min(BAD_LINES_PER_PART, left);
    const options = { precision, now, isDetailed, from, parseErrorsMax };
    const batch = this.#kernel.parseLines(body, options, this.#host(target));
    this.#add(batch, target);
    const isLeft = maxBadLines > 0 && outcome.parseErrorCount >= maxBadLines;
    const isWhole = batch.consumedBytes >= body.length;
    if (isLeft && !isWhole) outcome.leave(badLineLimit(maxBadLines));
    const hasMore = batch.consumedBytes > from && !isWhole && !isLeft;
    return { batch, next: hasMore ? batch.consumedBytes : undefined };
  }

  /** As `lines`, from a point on. */
  points(request: WritePointsRequest, from: number, target: IngestTarget): IngestedPart {
    const end = from + POINTS_PER_PART;
    const points = request.points.slice(from, end).flatMap((point) => {
      // NaN and infinities cannot be stored. A point with no other fields is skipped.
      const fields = point.fields.filter(
        ([, value]) => typeof value !== 'number' || Number.isFinite(value),
      );
      return fields.length === 0 ? [] : [{ ...point, fields, tags: canonicalTags(point.tags) }];
    });
    const batch = this.#kernel.appendPoints(points, this.#host(target));
    this.#add(batch, target);
    return { batch, next: end < request.points.length ? end : undefined };
  }

  #add(batch: Batch, { outcome }: IngestTarget): void {
    outcome.add(batch);
    // With one type per measurement, a type defined in one shard holds in all of them.
    const isShared = batch.newFields.length > 0 && this.#settings.fieldTypes === 'measurement';
    if (isShared && this.#shards.ids().length > 1) this.#kernel.forgetTypes();
  }

  #host({ policy, used, admitSeries }: IngestTarget): IngestHost {
    const { maxShards } = this.#settings;
    return {
      oldestAccepted: policy.oldestAccepted,
      newestAccepted: policy.newestAccepted,
      shardFor: (time) => {
        const isFull = maxShards > 0 && used.size >= maxShards;
        let shard = this.#shards.find(policy.id, time);
        if (isFull && (shard === undefined || !used.has(shard.id))) return shardLimit(maxShards);
        shard ??= this.#shards.create(policy, time);
        used.add(shard.id);
        return shard;
      },
      fieldTypes: (shardId, measurement) => this.#fieldTypes(shardId, measurement),
      admitSeries,
    };
  }

  #fieldTypes(
    shardId: number,
    measurement: string,
  ): Iterable<readonly [field: string, type: FieldType]> {
    const own = this.#shards.fieldTypes(shardId, measurement);
    if (this.#settings.fieldTypes === 'shard') return own;
    const types = new Map(own);
    for (const id of this.#shards.ids()) {
      for (const [field, type] of this.#shards.fieldTypes(id, measurement)) {
        if (!types.has(field)) types.set(field, type);
      }
    }
    return types;
  }
}

/**
 * A body as valid UTF-8: names are compared as text, so anything else is replaced by U+FFFD before
 * they are hashed or get ids.
 */
export function validBody(body: Uint8Array): Uint8Array {
  return isUtf8(body) ? body : Buffer.from(Buffer.from(body).toString('utf8'));
}
