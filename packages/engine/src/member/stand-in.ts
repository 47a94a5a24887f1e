// Accepts writes while no instance leads, by appending them to the log of points for the next
// leader. Rights are checked as a leader would, with the copy of this instance.
import { OpenParts, RequestMetrics, Unavailable } from '@tidemark/core';
import { requestBodyBudget } from '@tidemark/process';
import { httpSender } from '@tidemark/settings';
import type { Authenticator } from '../auth/authenticator.ts';
import { Audit } from '../http/audit.ts';
import { borderOf } from '../http/open-server.ts';
import { HttpServer } from '../http/server.ts';
import type { Authorize } from '../access/request.ts';
import { addWriteRoutes } from '../http/write-routes.ts';
import { PointRouter } from '../ingest/point-router.ts';
import { WritePath } from '../ingest/write-path.ts';
import type { LogHub } from '../observability/log-hub.ts';
import { METRIC_PREFIX } from '../observability/metric-table.ts';
import { openEntry } from '../open-stores.ts';
import type { InThisProcess } from './leader-proxy.ts';
import type { EntryOptions } from '../open-stores.ts';
import type { Metadata } from '../store/metadata.ts';
import type { PointLog } from '../shared-log/point-log.ts';

export type StandInOptions = Omit<EntryOptions, 'metadata' | 'http'> & {
  readonly points: PointLog;
  readonly logs: LogHub;
  /** The secret with which another instance states who the client is. */
  readonly secret: string;
  /** The metadata of this instance. */
  readonly copy: () => Metadata | undefined;
};

/** Decides on access, for these overrides of the configuration. */
type Entry = {
  readonly overrides: string;
  readonly authenticator: Promise<Authenticator | undefined>;
  readonly parts: OpenParts;
};

/** Answers requests that the leader proxy of this process gives it. Closed with `parts`. */
export async function openStandIn(
  options: StandInOptions,
  parts: OpenParts,
): Promise<InThisProcess> {
  const { config, clock, logs, secret, points } = options;
  const log = logs.logger('http');
  const server = new HttpServer({
    clock,
    bodyBytesMax: config.http.maxBodySizeBytes,
    bodies: requestBodyBudget(config.http, clock),
    requestTimeoutMs: config.http.requestTimeoutMs,
    hasCompatiblePaths: config.http.compatPaths,
    isLogging: config.http.logEnabled,
    metrics: new RequestMetrics(METRIC_PREFIX, { queries: '' }),
    log,
    redact: (text) => text,
    authorize: config.http.authEnabled ? authorizing(options, parts) : () => undefined,
    // The leader keeps the record.
    audit: new Audit({ directory: config[''].dataDir, keepBytes: 0, clock, log }),
    border: borderOf(config, secret),
    realm: config.http.realm,
  });
  parts.add(() => server.close(0));
  addWriteRoutes(server, {
    writes: new WritePath(new PointRouter(), { clock, settled: () => undefined, points }),
    defaultRetentionPolicy: config[''].defaultRetentionPolicy,
    logs,
    isTracingWrites: config.http.writeTracing,
  });
  await server.ready();
  return server;
}

function authorizing(options: StandInOptions, parts: OpenParts): Authorize {
  const http = httpSender();
  parts.add(() => http.close());
  let entry: Entry | undefined;
  parts.add(() => entry?.parts.close());
  const open = (metadata: Metadata, overrides: string): Entry => {
    const own = new OpenParts();
    const kept = { send: http.send, close: () => Promise.resolve() };
    const opening = openEntry({ ...options, metadata, http: kept }, own);
    // The required metadata does not exist yet; the next request tries again.
    opening.catch(() => (entry = undefined));
    return { overrides, parts: own, authenticator: opening.then((opened) => opened.authenticator) };
  };
  return async (request) => {
    const copy = options.copy();
    if (copy === undefined) throw new Unavailable('the cluster has no leader at the moment');
    const overrides = JSON.stringify([...copy.table('overrides').values()]);
    if (entry?.overrides !== overrides) {
      const before = entry;
      entry = open(copy, overrides);
      await before?.parts.close();
    }
    return (await entry.authenticator)?.authorize(request);
  };
}
