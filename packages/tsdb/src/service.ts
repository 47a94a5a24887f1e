// The service from start to stop: the order in which its parts are opened and closed.
import { readFileSync } from 'node:fs';

import { InvalidRequest, messageOf, openAll } from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import { isLoopback, parseBind } from '@tidemark/process';
import type { openStorage } from '@tidemark/storage';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import type { Logger } from 'pino';

import { startBackground } from './background/start.ts';
import type { TsdbConfig } from './config/schema.ts';
import { buildExecution, hostNameOf } from './execution.ts';
import { HttpInterface } from './http/http-interface.ts';
import { HttpServer } from './http/http-server.ts';
import { Readiness } from './http/readiness.ts';
import { startWarmUp } from './warm-up/start.ts';
import type { WarmUpSettings } from './warm-up/start.ts';
import { openStores } from './stores.ts';
import { RejectedLog } from './write/rejected-lines.ts';

export type TsdbDependencies = {
  readonly log: Logger;
  readonly clock: Clock;
  /** The storage to use, for tests; default: the embedded one in its thread. */
  readonly openStorage?: typeof openStorage | undefined;
  /** Without it there is no warm-up, whatever `data.rehearsal-enabled` says. */
  readonly warmUp?: WarmUpSettings | undefined;
  /**
   * Key with which the web server of this process proves that it may state its clients' addresses.
   */
  readonly pageKey?: string | undefined;
};

/** A running service. */
export interface TsdbService {
  /** URL of the first address; empty when HTTP is disabled. */
  readonly url: string;
  /**
   * Rejects with the reason when storage is lost for good; the process should end with a failure.
   * Never resolves. An unhandled rejection ends the process, too.
   */
  readonly failed: Promise<never>;
  /** Stops accepting, lets running requests end, and closes storage and catalog. Idempotent. */
  close(): Promise<void>;
  /**
   * Reads certificates again and continues in new log files. Throws when a certificate cannot be
   * read; the old one stays.
   */
  reload(): void;
}

/**
 * Starts the service. Throws an `AppError` with a sentence when the configuration or the machine
 * does not allow it; nothing stays open then.
 */
export async function startTsdb(
  config: TsdbConfig,
  dependencies: TsdbDependencies,
): Promise<TsdbService> {
  requireSafeAddresses(config);
  return openAll(
    (parts) => open(config, dependencies, parts),
    (error) => dependencies.log.error({ err: error }, 'a part could not be closed'),
  );
}

function requireSafeAddresses({ http }: TsdbConfig): void {
  if (http.authEnabled || http.insecureNoAuth || !http.enabled) return;
  for (const text of http.bindAddress.split(',')) {
    if (isLoopback(parseBind(text, 'http.bind-address').host)) continue;
    throw new InvalidRequest(
      `http.bind-address ${text} can be reached from other machines, and authentication is off: ` +
        'set http.auth-enabled = true, listen on 127.0.0.1, or insist with --insecure-no-auth',
    );
  }
}

async function open(
  config: TsdbConfig,
  dependencies: TsdbDependencies,
  parts: OpenParts,
): Promise<TsdbService> {
  const { clock, warmUp } = dependencies;
  const { log, setLevel } = adjustableLog(dependencies.log);
  let onLost: (reason: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    onLost = reject;
  });
  const readiness = new Readiness(clock);
  const onAvailability = (isAvailable: boolean): void => readiness.setStorageAvailable(isAvailable);
  const { openStorage } = dependencies;
  const stores = await openStores(
    config,
    { clock, log, openStorage, onLost, onAvailability },
    parts,
  );
  const server = new HttpServer(config, { ...dependencies, readiness });
  // Closed by whichever comes first: here when opening fails, otherwise before everything that
  // answers need.
  parts.add(() => server.close());
  await server.open();
  log.info({ urls: server.urls }, 'listening; storage is recovering');
  const tokenKeys = await readKeys(config.http.jwksFile);
  const storage = await stores.recovered();
  const { catalog, directory, documents } = stores;
  const common = { config, log, startedAt: clock.now() };
  const execution = buildExecution({ ...common, catalog, clock, storage });
  const rejected = new RejectedLog();
  const http = new HttpInterface({
    ...common,
    execution,
    documents,
    rejected,
    tokenKeys,
    readiness,
    setLogLevel: setLevel,
  });
  parts.add(() => http.close());
  const { leaseSignal } = stores;
  const hostname = hostNameOf(config);
  await startBackground({ config, log, execution, rejected, hostname, leaseSignal }, parts);
  parts.add(() => server.close());
  server.serve(http.listener, () => execution.statements.queries.close());
  if (warmUp !== undefined && config.data.rehearsalEnabled) {
    const service = { config, log, execution, documents, http, server };
    const started = startWarmUp(warmUp, service);
    parts.add(() => started.close());
  }
  log.info({ urls: server.urls, directory }, 'database service is ready');
  return {
    url: server.urls[0] ?? '',
    failed,
    close: () => parts.close(),
    reload: () => {
      http.reopenLogs();
      server.reloadCertificates();
    },
  };
}

/** A child of the log whose level, and that of its own children, can be changed together. */
function adjustableLog(parent: Logger): {
  readonly log: Logger;
  readonly setLevel: (level: string) => void;
} {
  const log = parent.child({});
  const all = [log];
  // A child keeps its initial level. Children are made per part and listener, not per request.
  log.onChild = (child) => void all.push(child);
  return {
    log,
    setLevel: (level) => {
      for (const each of all) each.level = level;
    },
  };
}

async function readKeys(file: string): Promise<JWTVerifyGetKey | undefined> {
  if (file === '') return undefined;
  const { createLocalJWKSet } = await import('jose');
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet);
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`http.jwks-file cannot be read: ${reason}`, { cause: error });
  }
}
