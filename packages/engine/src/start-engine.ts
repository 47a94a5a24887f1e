// Starts the service: parts, tasks, endpoints, background work; and stops it in reverse.
import { InvalidRequest, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { createTask, SeriesTable } from '@tidemark/runtime';
import { defaultOptions } from '@tidemark/alerting';
import type { EngineConfig } from './config.ts';
import { TSDB_SECTION } from './overridable-sections.ts';
import { closeParts, isTrusted, listenAddress, openParts } from './engine.ts';
import type { EngineParts } from './engine.ts';
import { addAlertRoutes } from './http/alert-routes.ts';
import { addConfigRoutes } from './http/config-routes.ts';
import { addMiscRoutes } from './http/misc-routes.ts';
import { HttpServer } from './http/server.ts';
import { addTaskRoutes } from './http/task-routes.ts';
import type { LogSink } from './log-hub.ts';
import { renderTemplate } from './render.ts';
import { Ticker } from './ticker.ts';

export type StartEngineOptions = {
  readonly log: LogSink;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Database that tasks use when the configuration names no cluster. */
  readonly defaultTsdbUrl?: string | undefined;
  /** Start without applying stored overrides; the configuration may say the same. */
  readonly skipConfigOverrides?: boolean | undefined;
  /** Where secrets `env:NAME` are looked up; default: nowhere. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
};

/** A running engine. */
export type EngineService = {
  /** Where the API answers, without a slash at the end. */
  readonly url: string;
  /** Stops gracefully: acknowledged points are processed, state is saved. Calling it again waits for the same end. */
  close(): Promise<void>;
};

/** Opens the engine's directory, starts its tasks and listens. Rejects when any of it does not work. */
export async function startEngine(
  config: EngineConfig,
  options: StartEngineOptions,
): Promise<EngineService> {
  checkExposure(config);
  // Tasks of one thread name series by the same numbers.
  const thread = { series: new SeriesTable() };
  const parts = await openParts({
    config: withDefaultCluster(config, options.defaultTsdbUrl),
    clock: options.clock ?? systemClock(),
    log: options.log,
    createTask: (pipeline, services, task) => createTask(pipeline, services, task, thread),
    render: renderTemplate,
    environment: options.environment ?? {},
    skipConfigOverrides: options.skipConfigOverrides === true,
  });
  const server = makeServer(parts);
  const ticker = new Ticker(parts.clock, 1000, () => parts.executor.measure());
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await server.close();
    await ticker.close();
    await closeParts(parts, config.http.shutdownTimeoutMs);
  };
  try {
    await parts.tasks.startEnabled();
    const { host, port } = listenAddress(config.http.bindAddress);
    const url = await server.listen(host, port);
    return { url, close: () => (closing ??= close()) };
  } catch (error) {
    await close();
    throw error;
  }
}

// Handlers may run programs and write files: nobody unknown may reach an engine from elsewhere by accident.
function checkExposure(config: EngineConfig): void {
  if (isTrusted(config) || config.http.insecureNoAuth) return;
  throw new InvalidRequest(
    `refusing to listen on ${config.http.bindAddress} without authentication; set http.auth-enabled, or http.insecure-no-auth to allow it`,
  );
}

function withDefaultCluster(config: EngineConfig, url: string | undefined): EngineConfig {
  if (url === undefined || (config.overridable.get('tsdb') ?? []).length > 0) return config;
  const cluster = {
    ...defaultOptions(TSDB_SECTION.options),
    name: 'default',
    default: true,
    urls: [url],
  };
  return { ...config, overridable: new Map([...config.overridable, ['tsdb', [cluster]]]) };
}

function makeServer(parts: EngineParts): HttpServer {
  const { config, logs, tasks, templates, executor, environment } = parts;
  const server = new HttpServer({
    bodyBytesMax: config.http.maxBodySizeBytes,
    hasCompatPaths: config.http.compatPaths,
    isLogging: config.http.logEnabled,
    log: logs.logger('http'),
    authorize: () => undefined,
    tls: config.http.httpsEnabled
      ? {
          certificateFile: config.http.httpsCertificate,
          keyFile: config.http.httpsPrivateKey,
          options: {
            minVersion: config.tls.minVersion === 'tls1.3' ? 'TLSv1.3' : 'TLSv1.2',
            maxVersion: config.tls.maxVersion === 'tls1.2' ? 'TLSv1.2' : 'TLSv1.3',
            ...(config.tls.ciphers.length === 0 ? {} : { ciphers: config.tls.ciphers.join(':') }),
          },
        }
      : undefined,
  });
  addTaskRoutes(server, {
    tasks,
    templates,
    executor,
    environment,
    replayOf: () => {
      throw new Error('no replays');
    },
  });
  addAlertRoutes(server, parts.alerts);
  addConfigRoutes(server, parts.overrides);
  addMiscRoutes(server, {
    writes: parts.writes,
    defaultRetentionPolicy: config[''].defaultRetentionPolicy,
    logs,
    debugVars: () => ({}),
    metrics: () => Promise.resolve(''),
    reload: () => Promise.resolve(),
    reloadSideloads: () => Promise.resolve(),
    relinkSubscriptions: () => Promise.resolve(),
  });
  return server;
}
