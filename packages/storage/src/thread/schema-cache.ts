// Caches the answers to schema look-ups in the calling thread, until the schema of their database
// changes: almost every query needs the fields and tags of the same few measurements, and asking
// the thread takes longer than the rest of a small query.
//
// New series do not change names. All other answers depend on
// series, and are valid until the next series is created.
import type { TimeRange } from '@tidemark/core';
import type {
  MeasurementNames,
  NamesFilter,
  SchemaBatch,
  SchemaFilter,
  SchemaRequest,
  ShardSpan,
} from '@tidemark/query';

import type { SchemaVersions } from '../series/schema-version.ts';
import type { SchemaState } from './protocol.ts';
import { schemaBatchBytes } from './packed-schema.ts';
import { VersionedCache } from './versioned-cache.ts';

/** Rough size of all cached answers of a kind: one of 20,000 measurements is a quarter of it. */
const ANSWERS_BYTES_MAX = 16 << 20;
/**
 * A measurement of 50,000 fields is kept, or 20,000 measurements; asking for their names takes a
 * tenth of a second.
 */
const NAMES_BYTES_MAX = 32 << 20;

/** A larger answer is not cached. */
export const ANSWER_BYTES_MAX = NAMES_BYTES_MAX / 4;

type Names = readonly MeasurementNames[];
type Batches = readonly SchemaBatch[];

export class SchemaCache {
  readonly #versions: SchemaVersions;
  readonly #names = new VersionedCache<Names>(NAMES_BYTES_MAX);
  readonly #answers = new VersionedCache<Batches>(ANSWERS_BYTES_MAX);
  readonly #shards = new VersionedCache<readonly ShardSpan[]>(ANSWERS_BYTES_MAX);

  constructor(versions: SchemaVersions) {
    this.#versions = versions;
  }

  names(filter: NamesFilter): Names | undefined {
    const key = namesKey(filter);
    return key === undefined ? undefined : this.#names.get(key, this.#versionsOf(filter));
  }

  setNames(filter: NamesFilter, names: Names, { stamp, sizeBytes }: Kept): void {
    const key = namesKey(filter);
    if (key !== undefined) this.#names.set(key, names, { sizeBytes, stamp });
  }

  /** The cached answer to a look-up. */
  get({ filter, ...asked }: AnyRequest): Batches | undefined {
    const key = this.#answerKey(asked, filter);
    return key === undefined ? undefined : this.#answers.get(key, this.#versionsOf(filter));
  }

  /**
   * Whether a look-up needs the shards of its database, which are not cached: an answer for a time
   * range cannot be cached without them.
   */
  lacksShards({ filter }: AnyRequest): boolean {
    return filter.timeRange !== undefined && this.#shardsOf(filter) === undefined;
  }

  /** Caches an answer with the state that the thread sent. */
  set({ filter, ...asked }: AnyRequest, batches: Batches, { stamp, shards }: SchemaState): void {
    if (shards !== undefined) {
      this.#shards.set(filter.database, shards, { sizeBytes: shards.length * 100, stamp });
    }
    const key = this.#answerKey(asked, filter);
    if (key === undefined) return;
    this.#answers.set(key, batches, { sizeBytes: key.length + answerBytes(batches), stamp });
  }

  #versionsOf({ database }: NamesFilter) {
    return (scope: 'names' | 'series'): number => this.#versions.of(database, scope);
  }

  #shardsOf(filter: SchemaFilter): readonly ShardSpan[] | undefined {
    return this.#shards.get(filter.database, this.#versionsOf(filter));
  }

  /**
   * The key has the shards in the time range instead of the range itself: look-ups over the same
   * shards have the same answer. Nothing else in a look-up is a bigint, which JSON lacks: its
   * condition is on tags alone.
   */
  #answerKey(asked: object, { timeRange, ...filter }: SchemaFilter): string | undefined {
    const rest = JSON.stringify({ ...asked, filter });
    if (timeRange === undefined) return rest;
    const shards = this.#shardsOf(filter);
    return shards === undefined ? undefined : `${rest} ${overlapping(shards, timeRange)}`;
  }
}

/** All requests except for names. */
type AnyRequest = Exclude<SchemaRequest, { readonly kind: 'names' }>;

type Kept = Pick<SchemaState, 'stamp'> & { readonly sizeBytes: number };

/** Rough size of an answer. */
export function answerBytes(batches: Batches): number {
  let sizeBytes = 100;
  for (const batch of batches) sizeBytes += schemaBatchBytes(batch);
  return sizeBytes;
}

/** The key for names of one measurement, or by a pattern; those of a list are not cached. */
function namesKey({ database, measurements, measurementPattern }: NamesFilter): string | undefined {
  if (measurements === undefined) return JSON.stringify([database, measurementPattern]);
  // JSON has no line feed.
  return measurements.length === 1 && measurementPattern === undefined
    ? `${database}\n${measurements[0]}`
    : undefined;
}

function overlapping(shards: readonly ShardSpan[], { start, end }: TimeRange): string {
  let numbers = '';
  for (let i = 0; i < shards.length; i++) {
    const span = shards[i]!;
    if (span.start <= end && span.end > start) numbers += ` ${i}`;
  }
  return numbers;
}
