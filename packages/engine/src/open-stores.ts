// What everything else of the engine stands on: the metadata file, the configuration with its
// overrides, the log, the database's clusters, outgoing HTTP, and who may ask for what.
import type { Clock, OpenParts } from '@tidemark/core';
import { accessPolicy, httpSender, secretResolver } from '@tidemark/settings';
import type { AccessPolicy, HttpSender } from '@tidemark/settings';
import { Authenticator } from './auth/authenticator.ts';
import { ConfigOverrides } from './config/config-overrides.ts';
import type { OverrideRecord } from './config/config-overrides.ts';
import type { EngineConfig } from './config/config.ts';
import { TSDB_SECTION } from './database/cluster-section.ts';
import { Clusters } from './database/clusters.ts';
import type { OwnDatabase } from './database/clusters.ts';
import { LogHub } from './observability/log-hub.ts';
import type { LogLevel, LogSink } from './observability/log-hub.ts';
import { Redactor } from './observability/redactor.ts';
import { Metadata } from './store/metadata.ts';

export type StoresOptions = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Start without what clients have changed of the configuration. */
  readonly skipsOverrides: boolean;
  readonly ownDatabase: OwnDatabase | undefined;
};

export type Stores = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly metadata: Metadata;
  readonly redactor: Redactor;
  readonly logs: LogHub;
  readonly http: HttpSender;
  readonly clusters: Clusters;
  /** What definitions may reach. */
  readonly access: AccessPolicy;
  /** Reads a secret by reference, whoever gave it. */
  readonly resolveSecret: (text: string) => string;
  readonly overrides: ConfigOverrides;
  /** `undefined` where nobody has to say who they are. */
  readonly authenticator: Authenticator | undefined;
};

/** Opens the stores. What is open is closed with `parts`. */
export async function openStores(options: StoresOptions, parts: OpenParts): Promise<Stores> {
  const { config, clock, environment } = options;
  const metadata = await Metadata.open(config[''].dataDir, {
    setting: config[''].secretsKey,
    environment,
  });
  parts.add(() => metadata.close());
  const redactor = new Redactor();
  redactor.add(config.http.sharedSecret);
  const level = config.logging.level.toLowerCase() as LogLevel | 'off';
  const logs = new LogHub(options.log, clock, level, redactor.redact);
  parts.add(() => logs.close());
  const http = httpSender();
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
    check: (section, proposed, caller) =>
      section === TSDB_SECTION
        ? authenticator?.checkClusters(proposed.elements(TSDB_SECTION), caller)
        : undefined,
  });
  overrides.open();
  await overrides.follow([TSDB_SECTION], () => clusters.update(overrides.elements(TSDB_SECTION)));
  return {
    config,
    clock,
    metadata,
    redactor,
    logs,
    http,
    clusters,
    access,
    resolveSecret,
    overrides,
    authenticator,
  };
}
