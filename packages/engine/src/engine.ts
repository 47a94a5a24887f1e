// The parts of a running engine and the order in which they open and close.
import {
  assert,
  InvalidRequest,
  isLoopback,
  RequestMetrics,
  TIDEMARK_VERSION,
} from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { AlertService, AlertStore, connectionCache } from '@tidemark/alerting';
import type {
  Closable,
  ConnectionCache,
  HandlerContext,
  AlertServiceOptions,
} from '@tidemark/alerting';
import {
  accessPolicy,
  httpSender,
  isReference,
  parseAddress,
  secretResolver,
} from '@tidemark/settings';
import type { AccessPolicy, HttpSender, SectionSpec } from '@tidemark/settings';
import { BatchScheduler } from './batch/batch-scheduler.ts';
import { ConfigOverrides } from './config/config-overrides.ts';
import type { CheckSection, OverrideRecord } from './config/config-overrides.ts';
import { hostCountOf } from './config/config.ts';
import type { EngineConfig } from './config/config.ts';
import { startPoints } from './catch-up/stream-feed.ts';
import { TSDB_SECTION } from './database/cluster-section.ts';
import { Clusters } from './database/clusters.ts';
import type { OwnDatabase } from './database/clusters.ts';
import { ChangeLock } from './tasks/change-lock.ts';
import type { BuildEnvironment } from './tasks/definition.ts';
import { Executor } from './tasks/executor.ts';
import type { CreateTask } from './tasks/executor.ts';
import { LogHub } from './observability/log-hub.ts';
import { METRIC_PREFIX } from './observability/metric-table.ts';
import type { LogLevel, LogSink } from './observability/log-hub.ts';
import { Metadata } from './store/metadata.ts';
import { PointRouter } from './ingest/point-router.ts';
import { QuerySlots } from './batch/query-slots.ts';
import type { TaskRecord, TemplateRecord } from './store/records.ts';
import { Reach } from './services/reach.ts';
import { Redactor } from './observability/redactor.ts';
import { checkAccess } from './services/check-access.ts';
import { HostPool } from '@tidemark/runtime/host';
import type { HostPoolOptions } from '@tidemark/runtime/host';
import type { TaskState } from '@tidemark/runtime';
import { Sideloads } from './files/sideload.ts';
import { taskLimits } from './tasks/task-options.ts';
import type { TaskSetting } from './tasks/task-options.ts';
import { checkCluster, httpClient, taskServices } from './services/task-services.ts';
import type { TaskServicesOptions } from './services/task-services.ts';
import { TaskService } from './tasks/task-service.ts';
import { TemplateService } from './tasks/template-service.ts';
import { openUserFunctions } from './services/user-functions.ts';
import { WritePath } from './ingest/write-path.ts';

export type EngineOptions = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly log: LogSink;
  readonly createTask: CreateTask;
  readonly render: HandlerContext['render'];
  readonly checkTemplate: HandlerContext['checkTemplate'];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly skipConfigOverrides: boolean;
  readonly ownDatabase?: OwnDatabase | undefined;
};

/**
 * Everything that endpoints and background work use. Made by `openParts`, closed by `closeParts`.
 */
export type EngineParts = {
  readonly config: EngineConfig;
  readonly clock: Clock;
  readonly metadata: Metadata;
  readonly logs: LogHub;
  readonly http: HttpSender;
  readonly connections: ConnectionCache & Closable;
  readonly context: AlertServiceOptions['context'];
  readonly alerts: AlertService;
  readonly clusters: Clusters;
  readonly overrides: ConfigOverrides;
  /** Hides secrets in texts that are shown. */
  readonly redact: (text: string) => string;
  readonly router: PointRouter;
  readonly writes: WritePath;
  readonly scheduler: BatchScheduler;
  readonly executor: Executor;
  readonly tasks: TaskService;
  readonly templates: TemplateService;
  readonly servicesOf: (taskId: string) => ReturnType<typeof taskServices>;
  /** Threads that run tasks; `undefined` when tasks run in this one. */
  readonly hosts: HostPool | undefined;
  /** Makes tasks that run in this thread: replays, whose time is not the machine's. */
  readonly createTask: CreateTask;
  /** What all runs of tasks share. */
  readonly setting: TaskSetting;
  /** Requests by endpoint, and how long writes and queries take. */
  readonly metrics: RequestMetrics;
  readonly environment: () => BuildEnvironment;
  readonly sideloads: Sideloads;
  /** What background work that starts later wants to hear of. */
  readonly hooks: EngineHooks;
};

export type EngineHooks = {
  taskStarted: (taskId: string, isNew: boolean) => Promise<void>;
  taskStartsAnew: (taskId: string) => Promise<void>;
  savedState: (taskId: string) => TaskState | undefined;
  /** Resolves when what is written to the database comes here. */
  linked: () => Promise<void>;
  /** Rejects a change that whoever makes it could not undo. */
  checkSection: CheckSection;
  sectionChanged: (section: SectionSpec) => Promise<void> | void;
};

/** Host and port of an address of the configuration, `:9092` being all interfaces. */
export function listenAddress(text: string): { readonly host: string; readonly port: number } {
  const address = parseAddress(text);
  assert(address !== undefined, 'the address was checked with the configuration');
  return { host: text.startsWith(':') ? '0.0.0.0' : address.host, port: address.port };
}

/** Whether only this machine or known users can reach the API. */
export function isTrusted(config: EngineConfig): boolean {
  const { host } = listenAddress(config.http.bindAddress);
  return config.http.authEnabled || isLoopback(host);
}

/** Opens what is stored and wires the parts; nothing runs and nothing listens yet. */
export async function openParts(options: EngineOptions): Promise<EngineParts> {
  const { config, clock } = options;
  const hooks: EngineHooks = {
    taskStarted: () => Promise.resolve(),
    taskStartsAnew: () => Promise.resolve(),
    checkSection: () => undefined,
    sectionChanged: () => undefined,
    savedState: () => undefined,
    linked: () => Promise.resolve(),
  };
  const metadata = await Metadata.open(config[''].dataDir, {
    setting: config[''].secretsKey,
    environment: options.environment,
  });
  const redactor = new Redactor();
  redactor.add(config.http.sharedSecret);
  const logs = new LogHub(
    options.log,
    clock,
    config.logging.level.toLowerCase() as LogLevel | 'off',
    redactor.redact,
  );
  const http = httpSender();
  const clusters = new Clusters(http, {
    queryResponseBytesMax: config.task.maxQueryResponseBytes,
    ownDatabase: options.ownDatabase,
  });
  const router = new PointRouter(config.task.maxWaitingPoints);
  const access = accessPolicy({
    programs: config.alert.allowedPrograms,
    files: config.alert.allowedFiles,
    secrets: config.alert.allowedSecrets,
  });
  const overrides = new ConfigOverrides({
    isEnabled: config.configOverride.enabled,
    file: config.overridable,
    store: metadata.table<OverrideRecord>('overrides'),
    isSkipped: options.skipConfigOverrides || config[''].skipConfigOverrides,
    resolveSecret: secretResolver(options.environment),
    refuseSecret: access.refuseSecret,
    refuseFile: access.refuseFile,
    redactor,
    check: (section, proposed, caller) => hooks.checkSection(section, proposed, caller),
    apply: (section, effective) => {
      if (section === TSDB_SECTION) clusters.update(effective.elements(TSDB_SECTION));
      return hooks.sectionChanged(section);
    },
  });
  await overrides.open();
  const connections = connectionCache(clock);
  const context = handlerContext(options, { http, overrides, connections, access });
  const alerts = new AlertService({
    store: new AlertStore(metadata.root, {
      clock,
      log: logs.logger('alert'),
      write: (size, begin) => metadata.write(size, begin),
      cipher: metadata.cipher,
    }),
    context,
    clock,
    log: logs.logger('alert'),
    redact: redactor.redactOwn,
    random: Math.random,
    isPersistent: config.alert.persistTopics,
    queueLength: config.alert.topicBufferLength,
    disabledKinds: new Set(config.alert.disabledHandlers),
  });
  alerts.open();
  const metrics = new RequestMetrics(METRIC_PREFIX, {
    queries: 'Time of queries of tasks to a database, from their turn to their answer.',
  });
  const slots = new QuerySlots({
    clock,
    concurrency: Math.max(1, config.task.maxQueries),
    timeoutMs: config.task.queryTimeoutMs,
    onEnd: (seconds) => metrics.queries.observe(seconds),
  });
  const catchUpParts = { clusters, clock, slots, config: config.task, log: logs.logger('task') };
  const scheduler = new BatchScheduler(catchUpParts);
  const server = {
    hostname: config[''].hostname,
    clusterId: metadata.clusterId,
    serverId: metadata.serverId,
  };
  const { resolveSecret } = context;
  const redact = redactor.redactOwn;
  const { endpoint } = httpClient({ http, sections: overrides, resolveSecret, redact });
  const sideloads = new Sideloads({ http, endpoint, access: context.access });
  const functions = await openUserFunctions(config, clock, logs.logger('udf'));
  const servicesOptions: TaskServicesOptions = {
    udf: functions.connector,
    sideloads,
    alerts,
    clusters,
    router,
    http,
    logs,
    sections: overrides,
    resolveSecret,
    redact,
    server,
    clock,
  };
  const servicesOf = (taskId: string): ReturnType<typeof taskServices> =>
    taskServices(servicesOptions, taskId);
  const hosts = taskHosts(config, {
    clock,
    server,
    functions: functions.functions,
    followStates: (listener) => alerts.followStates(listener),
    log: logs.logger('task'),
    logUdf: (udf, line) => logs.logger('udf')('info', line, { udf }),
  });
  const createTask: CreateTask =
    hosts === undefined
      ? options.createTask
      : (pipeline, services, task) => hosts.createTask(pipeline, services, task);
  const setting = { clock, limits: taskLimits(config), alerts: () => alerts.defaults };
  const executor = new Executor({
    createTask,
    savedState: (taskId) => hooks.savedState(taskId),
    clock,
    catchUp: config.task,
    log: logs.logger('task'),
    services: servicesOf,
    setting,
    startPoints: (executing, setup) =>
      startPoints({ ...catchUpParts, router, linked: () => hooks.linked() }, executing, setup),
    startQueries: (executing, setup) => scheduler.start(executing, setup),
  });
  const environment = (): BuildEnvironment => ({
    udfs: functions.registry,
    deadman: deadmanOf(config),
    checkAccess: (pipeline) => checkAccess(pipeline, context.access),
  });
  const { tasks, templates } = definitions({
    metadata,
    executor,
    alerts,
    clusters,
    environment,
    redactor,
    clock,
    logs,
    hooks,
  });
  return {
    config,
    clock,
    metadata,
    logs,
    http,
    connections,
    context,
    alerts,
    clusters,
    overrides,
    redact: redactor.redact,
    router,
    writes: new WritePath(router, clock, () => alerts.stored()),
    scheduler,
    executor,
    tasks,
    templates,
    servicesOf,
    hosts,
    createTask,
    setting,
    metrics,
    environment,
    sideloads,
    hooks,
  };
}

function taskHosts(
  config: EngineConfig,
  parts: Pick<
    HostPoolOptions,
    'clock' | 'server' | 'functions' | 'followStates' | 'log' | 'logUdf'
  >,
): HostPool | undefined {
  const { hostMemory, hostTimeoutMs, stopTimeoutMs } = config.task;
  const hostCount = hostCountOf(config);
  if (hostCount === 0) return undefined;
  return new HostPool({ ...parts, hostCount, memoryMiB: hostMemory, hostTimeoutMs, stopTimeoutMs });
}

function definitions(
  parts: Pick<
    EngineParts,
    'metadata' | 'executor' | 'alerts' | 'clusters' | 'environment' | 'clock' | 'logs' | 'hooks'
  > & { readonly redactor: Redactor },
): { readonly tasks: TaskService; readonly templates: TemplateService } {
  const { metadata, executor, alerts, clusters, environment, redactor, clock, logs, hooks } = parts;
  const log = logs.logger('task_store');
  const templateTable = metadata.table<TemplateRecord>('templates');
  const lock = new ChangeLock();
  const tasks = new TaskService({
    metadata,
    lock,
    tasks: metadata.table<TaskRecord>('tasks'),
    templates: templateTable,
    executor,
    alerts,
    environment,
    reach: new Reach({ alerts, clusters, clock }),
    redactor,
    checkNode: (node) => checkCluster(node, clusters),
    onStartAnew: (id) => hooks.taskStartsAnew(id),
    onStarted: (id, isNew) => hooks.taskStarted(id, isNew),
    clock,
    log: (message, fields) => log('error', message, fields),
  });
  const templates = new TemplateService({
    templates: templateTable,
    tasks,
    lock,
    environment,
    clock,
  });
  return { tasks, templates };
}

function handlerContext(
  options: EngineOptions,
  parts: {
    readonly http: HttpSender;
    readonly overrides: ConfigOverrides;
    readonly connections: ConnectionCache;
    readonly access: AccessPolicy;
  },
): AlertServiceOptions['context'] {
  const { config, clock, render, checkTemplate } = options;
  const resolveSecret = secretResolver(options.environment);
  return {
    section: (section, element) => parts.overrides.section(section, element),
    http: parts.http,
    clock,
    render,
    checkTemplate,
    access: parts.access,
    resolveSecret: (text) => {
      const refused = isReference(text) ? parts.access.refuseSecret(text) : undefined;
      if (refused !== undefined) throw new InvalidRequest(refused);
      return resolveSecret(text);
    },
    server: {
      hostname: config[''].hostname,
      url: `http://${config[''].hostname}:${listenAddress(config.http.bindAddress).port}`,
      product: `tidemark ${TIDEMARK_VERSION}`,
    },
    connections: parts.connections,
  };
}

function deadmanOf(config: EngineConfig): BuildEnvironment['deadman'] {
  const { intervalMs, threshold, id, message, global } = config.deadman;
  return {
    id,
    message,
    intervalNanos: BigInt(Math.round(intervalMs * 1e6)),
    threshold,
    isGlobal: global,
  };
}

/** Stops what runs and closes what is open. Points that were acknowledged are processed first. */
export async function closeParts(parts: EngineParts, deadlineMs: number): Promise<void> {
  await parts.router.drained();
  await parts.executor.stopAll();
  await parts.hosts?.close();
  await parts.alerts.close(deadlineMs);
  await parts.connections.close();
  await parts.http.close();
  parts.logs.close();
  await parts.metadata.close();
}
