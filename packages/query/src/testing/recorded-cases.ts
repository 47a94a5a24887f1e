// Replays recorded requests with the executor over the model in memory. Statements of the service
// (definitions, rights, deletes) are recognised and left to the tests of the service.
import { InvalidRequest } from '@tidemark/core';
import type { ParseResult, Statement } from '@tidemark/influxql';
import { parseQuery } from '@tidemark/influxql';

import type { IntoPoint, QueryContext } from '../context.ts';
import { Driver } from '../driver.ts';
import { executeSelect } from '../executor.ts';
import { executeExplain } from '../explain.ts';
import type { Operator } from '../operator.ts';
import { DEFAULT_QUERY_LIMITS } from '../limits.ts';
import type { StatementRun } from '../output/write-results.ts';
import { readEpoch, writeResults } from '../output/write-results.ts';
import type { ResultBatch } from '../result.ts';
import type { SourceCapabilities } from '../series-source.ts';
import { executeShow } from '../show/run-show.ts';
import type { MemoryPoint } from './memory-data.ts';
import { MEMORY_CAPABILITIES, MemorySource } from './memory-source.ts';

export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type RecordedCase = {
  readonly group: string;
  readonly setup: readonly string[];
  readonly writes: readonly {
    readonly db: string;
    readonly rp?: string;
    readonly precision?: string;
    readonly lines: readonly string[];
  }[];
  readonly pre?: readonly RecordedRequest[];
  readonly request: RecordedRequest;
  readonly status: number;
  readonly body: unknown;
  readonly raw?: string;
};

/** The name of a case in the list of differences: its group and every request of it. */
export function nameOfCase({ group, pre = [], request }: RecordedCase): string {
  return [group, ...[...pre, request].map(describeRequest)].join(' | ');
}

function describeRequest({ method, path, params, body }: RecordedRequest): string {
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  const sent = body === undefined ? [] : [JSON.stringify(body)];
  return [method, path, ...written, ...sent].join(' ');
}

/**
 * Parses the lines of a write; passed by the caller, because this package does not depend on line
 * protocol.
 */
export type LineParser = (
  lines: readonly string[],
  precision: string | undefined,
) => readonly MemoryPoint[];

const HOUR = 3_600_000_000_000n;
const DAY = 24n * HOUR;

/** Default length of new shards. */
export function defaultShardNanos(durationNanos: bigint): bigint {
  if (durationNanos === 0n || durationNanos >= 180n * DAY) return 7n * DAY;
  return durationNanos >= 2n * DAY ? DAY : HOUR;
}

type Database = { defaultPolicy: string | undefined; readonly policies: string[] };

/** A server without a network: catalog, data and executor. */
export class RecordedServer {
  readonly source = new MemorySource();
  readonly #databases = new Map<string, Database>();
  readonly #parseLines: LineParser;
  readonly #now: bigint;

  readonly #capabilities: SourceCapabilities;

  constructor(parseLines: LineParser, now: bigint, capabilities = MEMORY_CAPABILITIES) {
    this.#parseLines = parseLines;
    this.#now = now;
    this.#capabilities = capabilities;
  }

  /** Builds the state of a case; returns false if it needs statements of the service. */
  async prepare(recorded: RecordedCase): Promise<boolean> {
    for (const text of recorded.setup) if (!this.#define(text)) return false;
    for (const write of recorded.writes) {
      const policy = write.rp ?? this.#databases.get(write.db)?.defaultPolicy;
      if (policy === undefined) return false;
      this.source.write(write.db, policy, this.#parseLines(write.lines, write.precision));
    }
    for (const request of recorded.pre ?? []) {
      const answer = await this.answer(request);
      if (answer === undefined) return false;
    }
    return true;
  }

  /** Runs CREATE DATABASE and CREATE RETENTION POLICY. */
  #define(text: string): boolean {
    const { query, error } = parseQuery(text);
    if (error !== undefined) return false;
    for (const statement of query.statements) {
      if (statement.kind === 'create-database') {
        const name = statement.policyName ?? 'autogen';
        const duration = statement.options.durationNanos ?? 0n;
        this.source.dropDatabase(statement.name);
        this.#databases.set(statement.name, { defaultPolicy: name, policies: [name] });
        const shard = statement.options.shardDurationNanos ?? defaultShardNanos(duration);
        this.source.addPolicy(statement.name, name, shard);
      } else if (statement.kind === 'create-retention-policy') {
        const database = this.#databases.get(statement.database);
        if (database === undefined) return false;
        database.policies.push(statement.name);
        if (statement.options.isDefault === true) database.defaultPolicy = statement.name;
        const duration = statement.options.durationNanos ?? 0n;
        const shard = statement.options.shardDurationNanos ?? defaultShardNanos(duration);
        this.source.addPolicy(statement.database, statement.name, shard);
      } else return false;
    }
    return true;
  }

  /** The body of the answer; `undefined` if only the service can answer. */
  async answer(request: RecordedRequest): Promise<string | undefined> {
    const { params, headers } = request;
    const accept = headers?.['Accept'] ?? '';
    // The meaning of a request before its statements are run is decided by the service.
    const isOrdinary =
      request.path === '/query' &&
      (request.method === 'GET' || request.method === 'POST') &&
      (params['q'] ?? '') !== '' &&
      params['async'] === undefined &&
      !accept.includes(',');
    if (!isOrdinary) return undefined;
    const parsed = this.#parse(params);
    if (parsed === undefined || parsed.error !== undefined) return undefined;
    const runs: StatementRun[] = [];
    for (const statement of parsed.query.statements) {
      const run = this.#run(statement, params);
      if (run === undefined) return undefined;
      runs.push({ run });
    }
    const epoch = readEpoch(params['epoch'] ?? '');
    const pieces: Uint8Array[] = [];
    const written = writeResults(runs, {
      encoding: /^(application|text)\/csv/.test(accept) ? 'csv' : 'json',
      isPretty: params['pretty'] === 'true',
      epoch,
      chunkRows: params['chunked'] === 'true' ? Number(params['chunk_size'] ?? 10_000) : undefined,
    });
    const driver = new Driver({ supervision: () => undefined, monotonicMs: () => 0 });
    for await (const piece of driver.batches(written)) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  }

  #parse(params: RecordedRequest['params']): ParseResult | undefined {
    const text = params['params'];
    let parameters: Map<string, never> | undefined;
    if (text !== undefined) {
      try {
        const read: Record<string, unknown> = JSON.parse(text, (_key, value: unknown) =>
          typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value,
        );
        parameters = new Map(Object.entries(read)) as Map<string, never>;
      } catch {
        // The service refuses text that is no JSON, before the executor sees it.
        return undefined;
      }
    }
    return parseQuery(params['q'] ?? '', { parameters });
  }

  #run(
    statement: Statement,
    params: RecordedRequest['params'],
  ): (() => Operator<ResultBatch>) | undefined {
    const context = this.context(params);
    switch (statement.kind) {
      case 'select':
        return () => executeSelect(statement, context);
      case 'explain':
        return () => executeExplain(statement, context);
      case 'show-measurements':
      case 'show-field-keys':
      case 'show-series':
      case 'show-tag-keys':
      case 'show-tag-values':
      case 'show-cardinality':
        return () => executeShow(statement, context);
      default:
        return undefined;
    }
  }

  context(params: RecordedRequest['params']): QueryContext {
    const databases = this.#databases;
    return {
      snapshot: this.source.snapshot(),
      capabilities: this.#capabilities,
      catalog: {
        hasDatabase: (name) => databases.has(name),
        hasRetentionPolicy: (database, name) =>
          databases.get(database)?.policies.includes(name) ?? false,
        defaultRetentionPolicy: (database) => databases.get(database)?.defaultPolicy,
        retentionPolicies: (database) => databases.get(database)?.policies ?? [],
      },
      database: params['db'],
      retentionPolicy: params['rp'],
      now: this.#now,
      limits: DEFAULT_QUERY_LIMITS,
      signal: new AbortController().signal,
      monotonicMs: () => 0,
      random: () => 0,
      sink: {
        write: async ({ database, retentionPolicy }, points) => {
          this.#write(database, retentionPolicy, points);
        },
      },
    };
  }

  #write(database: string, retentionPolicy: string, points: readonly IntoPoint[]): void {
    const refused = this.source.write(database, retentionPolicy, points);
    if (refused === undefined) return;
    throw new InvalidRequest(`partial write: ${refused.reason} dropped=${refused.count}`);
  }
}
