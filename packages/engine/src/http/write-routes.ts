// Points that are written to the tasks: line protocol over HTTP.
import { InvalidRequest } from '@tidemark/core';
import { parsePrecision, unknownPrecision } from '@tidemark/line-protocol';
import type { WritePath } from '../ingest/write-path.ts';
import type { LogHub } from '../observability/log-hub.ts';
import { isKapacitorPath } from './routes.ts';
import type { ApiRequest, ApiResponse } from './api.ts';
import type { HttpServer } from './server.ts';

export type WriteRoutesOptions = {
  readonly writes: WritePath;
  readonly defaultRetentionPolicy: string;
  readonly logs: LogHub;
  /** `http.write-tracing`: bodies of writes are logged. */
  readonly isTracingWrites: boolean;
};

// Tasks are for databases with a policy: without one no task would get the points.
const RETENTION_POLICY_REQUIRED =
  'retention policy is required: add rp=NAME, or set default-retention-policy in the configuration';

export function addWriteRoutes(server: HttpServer, options: WriteRoutesOptions): void {
  const write = (request: ApiRequest): Promise<ApiResponse> =>
    acceptWrite(request, server, options);
  server.on('POST', '/write', write);
  server.onRoot('POST', '/write', write);
}

async function acceptWrite(
  request: ApiRequest,
  server: HttpServer,
  options: WriteRoutesOptions,
): Promise<ApiResponse> {
  server.counters.write_req++;
  const database = request.query.get('db');
  if (database === '') throw new InvalidRequest('database is required');
  if (options.isTracingWrites) traceWrite(request, options.logs);
  const retentionPolicy = request.query.get('rp') || options.defaultRetentionPolicy;
  // Kapacitor's own clients leave it out, and their tasks use a policy with the empty name.
  const isRequired = !isKapacitorPath(request);
  if (isRequired && retentionPolicy === '') throw new InvalidRequest(RETENTION_POLICY_REQUIRED);
  const unit = request.query.get('precision');
  const precision = parsePrecision(unit);
  if (precision === undefined) throw new InvalidRequest(unknownPrecision(unit));
  await options.writes.write(request.body, { database, retentionPolicy, precision });
  return { status: 204 };
}

function traceWrite(request: ApiRequest, logs: LogHub): void {
  logs.logger('http')('info', 'write', {
    db: request.query.get('db'),
    rp: request.query.get('rp'),
    body: Buffer.from(request.body).toString(),
  });
}
