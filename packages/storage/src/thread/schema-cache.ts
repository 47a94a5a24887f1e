// Answers of schema look-ups on this side of the storage thread, kept while its schema stays as it
// is: almost every query asks for the fields and tags of the same few measurements, and asking
// costs more than the rest of a small one.
import type { TimeRange } from '@tidemark/core';
import type { SchemaBatch, SchemaRequest } from '@tidemark/query';

import type { SchemaState, ShardSpan } from './protocol.ts';
import { schemaBatchBytes } from './schema-size.ts';

/** Rough size of all kept answers. */
const CACHE_BYTES_MAX = 4 << 20;

type Answer = { readonly batches: readonly SchemaBatch[]; readonly sizeBytes: number };

/** Valid for one version of the schema; asking with another one empties it. */
export class SchemaCache {
  #version = -1;
  /** Oldest use first. */
  readonly #answers = new Map<string, Answer>();
  readonly #shards = new Map<string, readonly ShardSpan[]>();
  #sizeBytes = 0;

  /** The answer that the thread would give, if it has been given before. */
  get(request: SchemaRequest, version: number): readonly SchemaBatch[] | undefined {
    if (version !== this.#version) this.#reset(version);
    const key = this.#key(request);
    if (key === undefined) return undefined;
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    return answer.batches;
  }

  /**
   * Whether the shards of a database are unknown: without them no answer about a time range is
   * kept.
   */
  lacksShards(request: SchemaRequest): boolean {
    const { timeRange, database } = request.filter;
    return timeRange !== undefined && !this.#shards.has(database);
  }

  /** Keeps an answer that was given in `state`. */
  set(request: SchemaRequest, batches: readonly SchemaBatch[], state: SchemaState): void {
    if (state.version !== this.#version) this.#reset(state.version);
    if (state.shards !== undefined) this.#shards.set(request.filter.database, state.shards);
    const key = this.#key(request);
    if (key === undefined || this.#answers.has(key)) return;
    let sizeBytes = key.length + 100;
    for (const batch of batches) sizeBytes += schemaBatchBytes(batch);
    if (sizeBytes > CACHE_BYTES_MAX / 4) return;
    this.#answers.set(key, { batches, sizeBytes });
    this.#sizeBytes += sizeBytes;
    for (const [oldest, answer] of this.#answers) {
      if (this.#sizeBytes <= CACHE_BYTES_MAX) break;
      this.#answers.delete(oldest);
      this.#sizeBytes -= answer.sizeBytes;
    }
  }

  #reset(version: number): void {
    this.#version = version;
    this.#answers.clear();
    this.#shards.clear();
    this.#sizeBytes = 0;
  }

  /**
   * A time range only says which shards are looked at: requests that differ in nothing else share
   * an answer.
   */
  #key(request: SchemaRequest): string | undefined {
    const { timeRange, ...filter } = request.filter;
    if (timeRange === undefined) return JSON.stringify(request, plain);
    const shards = this.#shards.get(filter.database);
    if (shards === undefined) return undefined;
    return `${JSON.stringify({ ...request, filter }, plain)} ${overlapping(shards, timeRange)}`;
  }
}

function overlapping(shards: readonly ShardSpan[], { start, end }: TimeRange): string {
  let numbers = '';
  for (let i = 0; i < shards.length; i++) {
    const span = shards[i]!;
    if (span.start <= end && span.end > start) numbers += ` ${i}`;
  }
  return numbers;
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
