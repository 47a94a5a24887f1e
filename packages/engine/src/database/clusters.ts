// The configured clusters of the database, and requests to them: writes, queries, statements.
// Requests go to the servers of a cluster in turn; a server that does not respond is skipped.
import { PAGE_KEY_HEADER } from '@tidemark/process';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { InvalidRequest, NotFound, parseRfc3339, Unavailable } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import type { DatabaseClient, DatabaseWrite, QueryResultSeries } from '@tidemark/runtime';
import { parsePrecision } from '@tidemark/line-protocol';
import { printPoints } from '@tidemark/runtime';
import { durationMs, tlsOf } from '@tidemark/settings';
import type { HttpSender, IncomingResponse } from '@tidemark/settings';
import type { Cluster } from '../config/cluster-section.ts';
import { parseJson } from '../formats/json.ts';
import { QUERY_RESPONSE_BYTES } from '../limits.ts';

const gzipAsync = promisify(gzip);

/** Smaller bodies are sent uncompressed. */
const GZIP_BYTES_MIN = 1024;

type ClusterRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: '/ping' | '/query' | '/write' | '/api/identity';
  readonly params: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly responseBytesMax?: number | undefined;
  /** The header instead of the cluster's own credentials; '' for none. */
  readonly authorization?: string | undefined;
  /** Address of the client whose credentials the header has. */
  readonly clientAddress?: string | undefined;
};

/** A database in this process, which trusts the engine's statement of a client's address. */
export type OwnDatabase = { readonly url: string; readonly pageKey: string };

type ClustersOptions = {
  /** `task.max-query-response`: bytes of the answer to one query. */
  readonly queryResponseBytesMax?: number | undefined;
  readonly ownDatabase?: OwnDatabase | undefined;
};

export class Clusters implements DatabaseClient {
  readonly #http: HttpSender;
  readonly #queryResponseBytesMax: number;
  readonly #ownDatabase: OwnDatabase | undefined;
  #elements: readonly Cluster[] = [];
  #turn = 0;

  constructor(http: HttpSender, options: ClustersOptions = {}) {
    this.#http = http;
    this.#queryResponseBytesMax = options.queryResponseBytesMax ?? QUERY_RESPONSE_BYTES.value;
    this.#ownDatabase = options.ownDatabase;
  }

  /** A copy with other settings, to try them. */
  withElements(elements: readonly Cluster[]): Clusters {
    const clusters = new Clusters(this.#http, {
      queryResponseBytesMax: this.#queryResponseBytesMax,
      ownDatabase: this.#ownDatabase,
    });
    clusters.update(elements);
    return clusters;
  }

  /** Applies changed settings; running requests finish with the old ones. */
  update(elements: readonly Cluster[]): void {
    this.#elements = elements.filter((options) => options.enabled);
  }

  get elements(): readonly Cluster[] {
    return this.#elements;
  }

  /** Settings of a cluster; '' is the default one. */
  cluster(name: string): Cluster {
    const found =
      name === '' ? this.default : this.#elements.find((options) => options.name === name);
    if (found !== undefined) return found;
    throw new NotFound(
      name === ''
        ? 'no default tsdb cluster is configured'
        : `no such tsdb cluster ${JSON.stringify(name)}`,
    );
  }

  /** The default cluster; the only one if there is one. */
  get default(): Cluster | undefined {
    const only = this.#elements.length === 1 ? this.#elements[0] : undefined;
    return this.#elements.find((options) => options.default) ?? only;
  }

  async write(write: DatabaseWrite): Promise<void> {
    const lines = printPoints(write.points, write.precision);
    if (lines !== '') await this.writeLines(write, lines);
  }

  /** Writes line protocol whose times have the write's precision. */
  async writeLines(write: Omit<DatabaseWrite, 'points'>, body: string): Promise<void> {
    const { database, retentionPolicy, precision, consistency } = write;
    const response = await this.#send(this.cluster(write.cluster), {
      method: 'POST',
      path: '/write',
      params: {
        ...(consistency === '' ? {} : { consistency }),
        db: database,
        // Times of an unknown unit are printed in nanoseconds.
        precision: precision === '' || parsePrecision(precision) === undefined ? 'ns' : precision,
        ...(retentionPolicy === '' ? {} : { rp: retentionPolicy }),
      },
      body,
    });
    if (response.status !== 204 && response.status !== 200) throw refused(response);
  }

  async execute(cluster: string, statement: string): Promise<void> {
    await this.#results(cluster, statement, 'POST');
  }

  /**
   * Result series of one statement. All numbers are floats, because JSON does not distinguish them.
   */
  async query(
    cluster: string,
    statement: string,
    signal: AbortSignal,
  ): Promise<readonly QueryResultSeries[]> {
    return this.#results(cluster, statement, 'GET', signal);
  }

  /**
   * Result series of one statement with exact integers; times are nanoseconds. Throws
   * `AnswerTooLarge` when the answer exceeds `bytesMax`.
   */
  async exact(
    cluster: string,
    statement: string,
    { signal, bytesMax }: { readonly signal: AbortSignal; readonly bytesMax: number },
  ): Promise<readonly RawSeries[]> {
    const response = await this.#send(
      this.cluster(cluster),
      {
        method: 'GET',
        path: '/query',
        params: { q: statement, epoch: 'ns' },
        responseBytesMax: bytesMax + 1,
      },
      signal,
    );
    if (response.body.length > bytesMax) throw new AnswerTooLarge('answer is too large');
    return seriesOf(response);
  }

  /** Rows of a SHOW statement as text. */
  async show(cluster: Cluster, statement: string): Promise<readonly ShowSeries[]> {
    const response = await this.#send(cluster, {
      method: 'GET',
      path: '/query',
      params: { q: statement },
    });
    return seriesOf(response).map((series) => ({
      name: series.name,
      columns: series.columns,
      rows: series.values.map((row) =>
        row.map((cell) => (typeof cell === 'string' ? cell : String(cell))),
      ),
    }));
  }

  /** Executes a statement on a given cluster. */
  async executeOn(cluster: Cluster, statement: string): Promise<void> {
    const response = await this.#send(cluster, {
      method: 'POST',
      path: '/query',
      params: { q: statement },
    });
    seriesOf(response);
  }

  /**
   * Status with which the default cluster answers a request with these credentials; failures of its
   * own are thrown.
   */
  async askAs(
    authorization: string,
    request: Omit<ClusterRequest, 'authorization'>,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const response = await this.#send(this.cluster(''), { ...request, authorization });
    if (response.status >= 500) throw refused(response);
    return response;
  }

  /** Whether the engine has credentials of its own for the default cluster. */
  hasOwnCredentials(): boolean {
    return Object.keys(credentials(this.cluster(''))).length > 0;
  }

  /**
   * Asks the default cluster for the user of credentials; the answer is that of `/api/identity`.
   */
  async identify(claim: {
    readonly authorization: string;
    readonly address: string;
  }): Promise<{ readonly status: number; readonly body: string }> {
    const response = await this.#send(this.cluster(''), {
      method: 'POST',
      path: '/api/identity',
      params: {},
      body: JSON.stringify(claim),
    });
    if (response.status >= 500) throw refused(response);
    return response;
  }

  /** Version of the first server of the cluster that answers. */
  async ping(name: string): Promise<string> {
    const response = await this.#send(this.cluster(name), {
      method: 'GET',
      path: '/ping',
      params: {},
    });
    if (response.status >= 400) throw refused(response);
    const version =
      response.headers['x-influxdb-version'] ?? response.headers['x-tsdb-version'] ?? '';
    return String(version);
  }

  async #results(
    cluster: string,
    statement: string,
    method: 'GET' | 'POST',
    signal?: AbortSignal,
  ): Promise<readonly QueryResultSeries[]> {
    const response = await this.#send(
      this.cluster(cluster),
      {
        method,
        path: '/query',
        params: { q: statement },
        responseBytesMax: this.#queryResponseBytesMax + 1,
      },
      signal,
    );
    if (response.body.length > this.#queryResponseBytesMax) {
      throw new InvalidRequest(
        `answer of the database is too large. setting=\`${QUERY_RESPONSE_BYTES.setting}\``,
      );
    }
    return seriesOf(response).map(resultSeries);
  }

  async #send(
    cluster: Cluster,
    request: ClusterRequest,
    signal: AbortSignal = NEVER,
  ): Promise<IncomingResponse> {
    const urls = cluster.urls ?? [];
    const first = this.#turn++;
    let failure: unknown = new Unavailable('the cluster has no servers');
    for (let i = 0; i < urls.length; i++) {
      const url = urls[(first + i) % urls.length] ?? '';
      try {
        const response = await this.#sendTo(url, cluster, request, signal);
        if (response.status < 500 || i === urls.length - 1) return response;
        failure = refused(response);
      } catch (error) {
        if (!(error instanceof Unavailable) || signal.aborted) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #sendTo(
    url: string,
    cluster: Cluster,
    request: ClusterRequest,
    signal: AbortSignal,
  ): Promise<IncomingResponse> {
    const query = new URLSearchParams(request.params).toString();
    const isForm = request.method === 'POST' && request.path === '/query';
    const target = `${url.replace(/\/+$/, '')}${request.path}`;
    const headers: Record<string, string> = { ...credentials(cluster, request.authorization) };
    if (request.clientAddress !== undefined && url === this.#ownDatabase?.url) {
      headers['X-Forwarded-For'] = request.clientAddress;
      headers[PAGE_KEY_HEADER] = this.#ownDatabase.pageKey;
    }
    let body: string | Uint8Array | undefined = isForm ? query : request.body;
    if (isForm) headers['Content-Type'] = 'application/x-www-form-urlencoded';
    if (request.path === '/write' && typeof body === 'string') {
      headers['Content-Type'] = 'text/plain; charset=utf-8';
      if (cluster.compression === 'gzip' && body.length >= GZIP_BYTES_MIN) {
        body = await gzipAsync(body);
        headers['Content-Encoding'] = 'gzip';
      }
    }
    return this.#http.send(
      {
        method: request.method,
        url: isForm || query === '' ? target : `${target}?${query}`,
        headers,
        body,
        tls: tlsOf(cluster),
        timeoutMs: durationMs(cluster.timeout) || undefined,
        responseBytesMax: request.responseBytesMax,
      },
      signal,
    );
  }
}

export type ShowSeries = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

const NEVER = new AbortController().signal;

function credentials(cluster: Cluster, authorization?: string): Record<string, string> {
  if (authorization !== undefined)
    return authorization === '' ? {} : { Authorization: authorization };
  const token = cluster.token;
  if (token !== '') return { Authorization: `Token ${token}` };
  const username = cluster.username;
  if (username === '') return {};
  const pair = Buffer.from(`${username}:${cluster.password}`).toString('base64');
  return { Authorization: `Basic ${pair}` };
}

/** The database's answer is larger than the limit. */
export class AnswerTooLarge extends InvalidRequest {}

/** A series of an answer as parsed from JSON. */
export type RawSeries = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
};

function refused(response: IncomingResponse): InvalidRequest | Unavailable {
  const reason = errorOf(response.body) ?? response.body.trim().slice(0, 1000);
  const message = reason === '' ? `unexpected status ${response.status}` : reason;
  return response.status >= 500 ? new Unavailable(message) : new InvalidRequest(message);
}

function errorOf(body: string): string | undefined {
  try {
    const value = parseJson(Buffer.from(body), '');
    if (value === null || typeof value !== 'object' || !('error' in value)) return undefined;
    return typeof value.error === 'string' ? value.error : undefined;
  } catch {
    // Not JSON: the text itself is the reason.
    return undefined;
  }
}

function seriesOf(response: IncomingResponse): readonly RawSeries[] {
  if (response.status !== 200) throw refused(response);
  const answer = parseJson(Buffer.from(response.body), 'answer of the database: ') as {
    readonly error?: unknown;
    readonly results?: unknown;
  };
  if (typeof answer.error === 'string') throw new InvalidRequest(answer.error);
  const found: RawSeries[] = [];
  for (const result of listOf(answer.results)) {
    const { error, series } = result as { readonly error?: unknown; readonly series?: unknown };
    if (typeof error === 'string') throw new InvalidRequest(error);
    for (const one of listOf(series)) found.push(readSeries(one));
  }
  return found;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readSeries(value: unknown): RawSeries {
  const { name, tags, columns, values } = value as Readonly<Record<string, unknown>>;
  return {
    name: typeof name === 'string' ? name : '',
    tags: (tags ?? {}) as Readonly<Record<string, string>>,
    columns: listOf(columns).map(String),
    values: listOf(values).map(listOf),
  };
}

function resultSeries(series: RawSeries): QueryResultSeries {
  const timeColumn = series.columns.indexOf('time');
  const order = [timeColumn, ...series.columns.keys()].filter(
    (column, i) => column >= 0 && (i === 0 || column !== timeColumn),
  );
  return {
    name: series.name,
    tags: series.tags,
    columns: order.map((column) => series.columns[column] ?? ''),
    values: series.values.map((row) =>
      order.map((column) =>
        column === timeColumn ? readTime(row[column]) : readCell(row[column]),
      ),
    ),
  };
}

function readTime(cell: unknown): bigint {
  if (typeof cell === 'string') {
    const time = parseRfc3339(cell);
    if (time !== undefined) return time;
  }
  if (typeof cell === 'number' || typeof cell === 'bigint') return BigInt(cell);
  throw new InvalidRequest(`answer of the database has no time where one belongs: ${String(cell)}`);
}

function readCell(cell: unknown): FieldValue | null {
  if (typeof cell === 'bigint') return Number(cell);
  return typeof cell === 'number' || typeof cell === 'string' || typeof cell === 'boolean'
    ? cell
    : null;
}
