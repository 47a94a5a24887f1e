// Typed client of the database's HTTP API.
import { Internal } from '@tidemark/core';

import { DocumentClient } from './document-client.ts';
import { HttpConnection, readFailure } from './http.ts';
import { parseLossless } from './lossless.ts';
import type { ClientOptions } from './http.ts';

/** A cell of an answer. Integers beyond 2^53 arrive as `bigint`, all other numbers as `number`. */
export type Cell = string | number | bigint | boolean | null;

export type Series = {
  readonly name?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly columns: readonly string[];
  readonly values?: readonly (readonly Cell[])[] | undefined;
  readonly partial?: boolean | undefined;
};

export type Result = {
  readonly statement_id: number;
  readonly series?: readonly Series[] | undefined;
  readonly messages?: readonly { readonly level: string; readonly text: string }[] | undefined;
  readonly error?: string | undefined;
  readonly partial?: boolean | undefined;
  /** Findings about the statement, such as unknown names. */
  readonly diagnostics?: readonly ResponseDiagnostic[] | undefined;
};

/**
 * A finding about the text that was sent; `position` and `length` are those of a JavaScript string.
 */
export type ResponseDiagnostic = {
  readonly code: string;
  readonly message: string;
  readonly position: number;
  readonly length: number;
  readonly hint?: string | undefined;
};

/**
 * A whole answer. `error` is set when the request as such was refused, for example for a syntax
 * error.
 */
export type QueryResponse = {
  readonly results?: readonly Result[] | undefined;
  readonly error?: string | undefined;
  readonly diagnostics?: readonly ResponseDiagnostic[] | undefined;
};

export type QueryOptions = {
  readonly database?: string | undefined;
  readonly retentionPolicy?: string | undefined;
  readonly epoch?: 'ns' | 'u' | 'ms' | 's' | 'm' | 'h' | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type WriteOptions = {
  readonly retentionPolicy?: string | undefined;
  readonly precision?: string | undefined;
  readonly consistency?: string | undefined;
  /** `false` withholds the points from subscriptions, and so from tasks. */
  readonly notify?: boolean | undefined;
};

/** A write with rejected lines. */
export type PartialWrite = {
  readonly written: number;
  readonly rejected: readonly RejectedLine[];
  /** Rejected lines missing from the list, which is bounded. */
  readonly unlisted?: number | undefined;
};

/** A line that was not written; the first line of a body is 1. */
export type RejectedLine = {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
};

/**
 * Methods throw an `AppError` when the service refuses or does not answer; statement errors are in
 * the results.
 */
export class TsdbClient {
  readonly http: HttpConnection;
  readonly documents: DocumentClient;

  constructor(options: ClientOptions) {
    this.http = new HttpConnection(options);
    this.documents = new DocumentClient(this.http, '/api/documents');
  }

  /** The database's version. */
  async ping(): Promise<string> {
    const { headers } = await this.http.send('/ping');
    return headers.get('x-tsdb-version') ?? headers.get('x-influxdb-version') ?? '';
  }

  /** Runs statements. Integers keep all their digits. */
  async query(text: string, options: QueryOptions = {}): Promise<QueryResponse> {
    const form = new URLSearchParams({ q: text, diagnostics: 'true' });
    if (options.database !== undefined) form.set('db', options.database);
    if (options.retentionPolicy !== undefined) form.set('rp', options.retentionPolicy);
    if (options.epoch !== undefined) form.set('epoch', options.epoch);
    const response = await this.http.sendRaw('/query', {
      method: 'POST',
      body: form,
      signal: options.signal,
    });
    return parseLossless(await response.text()) as QueryResponse;
  }

  /** Runs one statement and returns its series; any error throws. */
  async rows(text: string, options: QueryOptions = {}): Promise<readonly Series[]> {
    const response = await this.query(text, options);
    const error =
      response.error ?? response.results?.find((result) => result.error !== undefined)?.error;
    if (error !== undefined) throw new Internal(error);
    return response.results?.flatMap((result) => result.series ?? []) ?? [];
  }

  /**
   * Writes line protocol; returns a warning of the database about accepted lines, usually
   * `undefined`.
   */
  async write(
    database: string,
    lines: string | Uint8Array<ArrayBuffer>,
    options: WriteOptions = {},
  ): Promise<string | undefined> {
    const { headers } = await this.http.send('/write', writeRequest(database, lines, options));
    const found = headers.get('x-tsdb-diagnostics');
    if (found === null) return undefined;
    return (JSON.parse(found) as readonly { readonly hint?: string }[])[0]?.hint;
  }

  /**
   * Writes line protocol; returns the numbers of written and rejected lines if some were rejected,
   * else `undefined`. Throws when the request is refused, or when the service does not report which
   * lines it rejected.
   */
  async writeReported(
    database: string,
    lines: string,
    options: WriteOptions = {},
  ): Promise<PartialWrite | undefined> {
    const request = writeRequest(database, lines, options);
    const search = { ...request.search, errors: 'detailed' };
    const response = await this.http.sendRaw('/write', { ...request, search });
    if (response.status < 400) return undefined;
    const failed = await readFailure(response);
    const { written, rejected, unlisted } = failed.document;
    if (typeof written !== 'number' || !Array.isArray(rejected)) throw failed.error;
    return { written, rejected, unlisted: Number(unlisted ?? 0) };
  }
}

function writeRequest(
  database: string,
  body: string | Uint8Array<ArrayBuffer>,
  { retentionPolicy, precision, consistency, notify }: WriteOptions,
) {
  return {
    method: 'POST',
    body,
    search: {
      db: database,
      rp: retentionPolicy,
      precision,
      consistency,
      notify: notify?.toString(),
    },
  } as const;
}
