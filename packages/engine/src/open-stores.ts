// Opens what the rest of the engine depends on: the metadata file, the configuration with its
// overrides, the log, the clusters of the database, outgoing HTTP, and authentication.
import type { Clock, OpenParts } from '@tidemark/core';
import { Unavailable } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import { NOT_LEADING } from '@tidemark/alerting';
import { accessPolicy, httpSender, secretResolver } from '@tidemark/settings';
import type { AccessPolicy, HttpSender } from '@tidemark/settings';
import type { HostPool, HostPoolOptions } from '@tidemark/runtime/host';
import { Authenticator } from './auth/authenticator.ts';
import { ConfigOverrides } from './config/config-overrides.ts';
import type { OverrideRecord } from './config/override-change.ts';
import type { RecordingExchange } from './cluster/recording-exchange.ts';
import type { PointLog } from './shared-log/point-log.ts';
import type { RemoteHosts } from './cluster/remote-hosts.ts';
import type { EngineConfig } from './config/config.ts';
import { TSDB_SECTION } from './config/cluster-section.ts';
import { Clusters } from './database/clusters.ts';
import type { OwnDatabase } from './database/clusters.ts';
import type { UdpListening } from './ingest/udp-inputs.ts';
import { LogHub } from './observability/log-hub.ts';
import type { Logger, LogLevel, LogSink } from './observability/log-hub.ts';
import { Redactor } from './observability/redactor.ts';
import { Metadata } from './store/metadata.ts';
import { StopTime } from './stop-time.ts';

export type StoresOptions = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Start without the configuration changes of clients. */
  readonly skipsOverrides: boolean;
  /** The table of the configuration file that has the engine's sections. */
  readonly settingsUnder?: string | undefined;
  readonly ownDatabase: OwnDatabase | undefined;
  /** The state that this engine shares with the other instances of its cluster. */
  readonly shared?: Shared | undefined;
  /** Sends requests; default: over the network. */
  readonly sender?: HttpSender | undefined;
};

/** The parts of an engine that leads a cluster (docs/adr/0020-engine-cluster.md). */
export type Shared = {
  /** The instance's copy of the metadata, which this engine may change from now on. */
  readonly metadata: Metadata;
  /** Where points are kept until saved states contain them. */
  readonly points: PointLog;
  /** The cluster's name at databases. */
  readonly clusterId: string;
  /** Lets all instances listen for subscriptions over UDP; `token` is the subscriber's. */
  readonly udp: (token: string | undefined, log: Logger) => UdpListening;
  /** Files of recordings of other instances. */
  readonly recordings: RecordingExchange;
  /** Whether it leads now: checked before anything leaves the engine. */
  readonly mayAct: () => boolean;
  /** Aborted as soon as it begins to give up the lead. */
  readonly role: AbortSignal;
  /** The members and the leader. */
  readonly members: () => readonly Member[];
  /** Number of the last record of the shared log. */
  readonly changesEnd: () => number;
  /** Why the coordinator does not answer; `undefined` when it does. */
  readonly coordinatorProblem: () => string | undefined;
  /** Asks an instance not to lead any more. */
  readonly drain: (id: string) => Promise<void>;
  /** Drops an instance that is gone for good. */
  readonly forget: (id: string) => Promise<void>;
  /** Id of this instance. */
  readonly self: string;
  /** Lets other instances run tasks of the pool. */
  readonly openRemoteHosts: (
    pool: HostPool,
    server: HostPoolOptions['server'],
  ) => Promise<RemoteHosts>;
  /** Opens hosts of this instance; default: as threads. */
  readonly openHost?: HostPoolOptions['openHost'];
};

export type Stores = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly metadata: Metadata;
  readonly redactor: Redactor;
  readonly logs: LogHub;
  readonly http: HttpSender;
  readonly clusters: Clusters;
  /** Permitted programs, files and secrets of definitions. */
  readonly access: AccessPolicy;
  /** Resolves a reference to a secret, for any owner. */
  readonly resolveSecret: (text: string) => string;
  readonly overrides: ConfigOverrides;
  /** Begins when the engine is closed. */
  readonly stop: StopTime;
  readonly shared: Shared | undefined;
  /** `undefined` without authentication. */
  readonly authenticator: Authenticator | undefined;
};

/** Opens the stores. Open parts are closed with `parts`. */
export async function openStores(options: StoresOptions, parts: OpenParts): Promise<Stores> {
  const { config, clock, shared, sender = httpSender() } = options;
  const metadata = shared?.metadata ?? (await openMetadata(options, parts));
  const http = shared === undefined ? sender : whileLeading(sender, shared);
  const entry = await openEntry({ ...options, metadata, http }, parts);
  // An instance that was replaced has nothing to wait for.
  const limitMs = (): number => (shared?.mayAct() === false ? 0 : config.http.shutdownTimeoutMs);
  const stop = new StopTime(clock, limitMs);
  return { config, clock, metadata, http, stop, shared, ...entry };
}

export type EntryOptions = Omit<StoresOptions, 'shared' | 'sender'> &
  Pick<Stores, 'metadata' | 'http'>;

/**
 * Opens the access checks, over metadata that others may change. Open parts are closed with
 * `parts`, including the sender.
 */
export async function openEntry(
  options: EntryOptions,
  parts: OpenParts,
): Promise<Omit<Stores, 'config' | 'clock' | 'metadata' | 'http' | 'stop' | 'shared'>> {
  const { config, clock, environment, metadata, http } = options;
  const redactor = new Redactor();
  redactor.add(config.http.sharedSecret);
  const level = config.logging.level.toLowerCase() as LogLevel | 'off';
  const logs = new LogHub(options.log, clock, level, redactor.redact);
  parts.add(() => logs.close());
  parts.add(() => http.close());
  const clusters = new Clusters(http, {
    queryResponseBytesMax: config.task.maxQueryResponseBytes,
    ownDatabase: options.ownDatabase,
  });
  const authenticator = config.http.authEnabled
    ? await Authenticator.open({ ...config.http, clusters, clock, metadata })
    : undefined;
  const access = accessPolicy({
    programs: config.alert.allowedPrograms,
    files: config.alert.allowedFiles,
    secrets: config.alert.allowedSecrets,
    section: options.settingsUnder === undefined ? 'alert' : `${options.settingsUnder}.alert`,
  });
  const resolveSecret = secretResolver(environment);
  const overrides = new ConfigOverrides({
    isEnabled: config.configOverride.enabled,
    file: config.overridable,
    store: metadata.table<OverrideRecord>('overrides'),
    isSkipped: options.skipsOverrides || config[''].skipConfigOverrides,
    resolveSecret,
    refuseSecret: access.refuseSecret,
    refuseFile: access.refuseFile,
    redactor,
    log: (message, fields) => logs.logger('config')('warn', message, fields),
    check: (section, proposed, caller) =>
      section === TSDB_SECTION
        ? authenticator?.checkClusters(proposed.elements(TSDB_SECTION), caller)
        : undefined,
  });
  overrides.open();
  await overrides.follow([TSDB_SECTION], () => clusters.update(overrides.elements(TSDB_SECTION)));
  return { redactor, logs, clusters, access, resolveSecret, overrides, authenticator };
}

async function openMetadata(
  { config, environment }: StoresOptions,
  parts: OpenParts,
): Promise<Metadata> {
  const { dataDir, secretsKey: setting } = config[''];
  const startsEmpty = config[''].startEmpty;
  const metadata = await Metadata.open(dataDir, { setting, environment }, { startsEmpty });
  parts.add(() => metadata.close());
  return metadata;
}

/** Nothing is sent for a cluster that another instance leads. */
function whileLeading(sender: HttpSender, { mayAct }: Shared): HttpSender {
  return {
    send: (request, signal) =>
      mayAct()
        ? sender.send({ ...request, maySend: mayAct }, signal)
        : Promise.reject(new Unavailable(NOT_LEADING)),
    close: () => sender.close(),
  };
}
