// Endpoints beside the resources: writing, ping, routes, logs, statistics.
import { InvalidRequest, METRICS_TYPE } from '@tidemark/core';
import { parsePrecision, unknownPrecision } from '@tidemark/line-protocol';
import type { LogFilter, LogHub, LogLevel } from '../observability/log-hub.ts';
import { BadLine } from '../ingest/write-path.ts';
import type { WritePath } from '../ingest/write-path.ts';
import { asObject, parseJson } from './json.ts';
import { openApiDocument } from './openapi.ts';
import type { QueryParams } from './params.ts';
import type { ApiRequest, ApiResponse, HttpServer } from './server.ts';

export type MiscRoutesOptions = {
  readonly writes: WritePath;
  readonly defaultRetentionPolicy: string;
  readonly logs: LogHub;
  /** `http.write-tracing`: bodies of writes are logged. */
  readonly isTracingWrites: boolean;
  readonly debugVars: () => Promise<unknown>;
  readonly metrics: () => Promise<string>;
  /** Reads the load directory and sideload sources again. */
  readonly reload: () => Promise<void>;
  readonly reloadSideloads: () => Promise<void>;
  readonly relinkSubscriptions: () => Promise<void>;
};

const DONE: ApiResponse = { status: 204 };

// Tasks are for databases with a policy: without one no task would see the points.
const RETENTION_POLICY_REQUIRED =
  'retention policy is required: add rp=NAME, or set default-retention-policy in the configuration';

export function addMiscRoutes(server: HttpServer, options: MiscRoutesOptions): void {
  const write = (request: ApiRequest): Promise<ApiResponse> =>
    acceptWrite(request, server, options);
  server.on('POST', '/write', write);
  server.onRoot('POST', '/write', write);
  server.on('GET', '/ping', () => {
    server.counters.ping_req++;
    return DONE;
  });
  server.onRoot('GET', '/ping', () => DONE);
  server.on('GET', '/:routes', () => {
    // The router writes a colon that is meant as itself twice; clients write it once.
    const paths = Object.entries(server.routes()).map(([path, methods]) => [
      path.replace('::', ':'),
      methods,
    ]);
    return { status: 200, json: Object.fromEntries(paths) as object };
  });
  server.onRoot('GET', '/openapi.json', () => ({
    status: 200,
    json: openApiDocument(server.routes()),
  }));
  server.on('GET', '/debug/vars', async () => ({ status: 200, json: await options.debugVars() }));
  server.onRoot('GET', '/debug/vars', async () => ({
    status: 200,
    json: await options.debugVars(),
  }));
  server.onRoot('GET', '/metrics', async () => ({
    status: 200,
    text: await options.metrics(),
    contentType: METRICS_TYPE,
  }));
  server.onPreview('GET', '/logs', (request) => followLogs(request, options.logs));
  server.on('POST', '/loglevel', (request) => {
    setLogLevel(request.body, options.logs);
    return DONE;
  });
  server.on('POST', '/load/reload', async () => {
    await options.reload();
    return DONE;
  });
  server.on('POST', '/sideload/reload', async () => {
    await options.reloadSideloads();
    return DONE;
  });
  server.on('POST', '/subscriptions', async () => {
    await options.relinkSubscriptions();
    return DONE;
  });
}

async function acceptWrite(
  request: ApiRequest,
  server: HttpServer,
  options: MiscRoutesOptions,
): Promise<ApiResponse> {
  server.counters.write_req++;
  const database = request.query.get('db');
  if (database === '') return plainText(400, 'database is required');
  if (options.isTracingWrites) traceWrite(request, options.logs);
  const retentionPolicy = request.query.get('rp') || options.defaultRetentionPolicy;
  if (retentionPolicy === '') return plainText(400, RETENTION_POLICY_REQUIRED);
  const unit = request.query.get('precision');
  const precision = parsePrecision(unit);
  if (precision === undefined) return plainText(400, unknownPrecision(unit));
  try {
    await options.writes.write(request.body, {
      database,
      retentionPolicy,
      precision,
    });
    return DONE;
  } catch (error) {
    // Clients of the write format match on the bare text.
    if (error instanceof BadLine) return plainText(400, error.message);
    throw error;
  }
}

function traceWrite(request: ApiRequest, logs: LogHub): void {
  logs.logger('http')('info', 'write', {
    db: request.query.get('db'),
    rp: request.query.get('rp'),
    body: Buffer.from(request.body).toString(),
  });
}

function plainText(status: number, message: string): ApiResponse {
  return { status, text: `${message}\n`, contentType: 'text/plain; charset=utf-8' };
}

function setLogLevel(body: Uint8Array, logs: LogHub): void {
  const object = asObject(parseJson(body, 'invalid json: '), 'invalid json: expected an object');
  const level = String(object['level'] ?? '').toLowerCase();
  const known = ['debug', 'info', 'warn', 'error', 'off'] as const;
  const found = known.find((each) => each === level);
  if (found === undefined) throw new InvalidRequest('invalid log level');
  logs.setLevel(found);
}

function followLogs(request: ApiRequest, logs: LogHub): ApiResponse {
  const accept = String(request.headers['accept'] ?? '');
  const isJson = accept.includes('application/json');
  return {
    status: 200,
    stream: logs.follow(readFilter(request.query), isJson ? 'json' : 'logfmt', request.signal),
    contentType: isJson ? 'application/json' : 'text/plain; charset=utf-8',
    headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  };
}

function readFilter(query: QueryParams): LogFilter {
  const fields = new Map<string, string>();
  let minLevel: LogLevel = 'debug';
  let isExact = false;
  for (const [name, values] of query.entries()) {
    if (values.length > 1) throw new InvalidRequest('query params cannot contain duplicate params');
    const value = values[0] ?? '';
    if (name !== 'lvl') {
      fields.set(name, value);
      continue;
    }
    const level = value.replace(/[+ ]$/, '').toLowerCase();
    const known = ['debug', 'info', 'warn', 'error'] as const;
    const found = known.find((each) => each === level);
    if (found === undefined) throw new InvalidRequest('invalid log level');
    minLevel = found;
    isExact = !/[+ ]$/.test(value);
  }
  return { fields, minLevel, isExact };
}
