// Opens tasks with everything they need: sources of points, queries, threads, user-defined
// functions, and saved states.
import { RequestMetrics } from '@tidemark/core';
import type { OpenParts } from '@tidemark/core';
import { createTask, SeriesTable } from '@tidemark/runtime';
import { HostPool } from '@tidemark/runtime/host';
import type { HostPoolOptions } from '@tidemark/runtime/host';
import type { Alerting } from './open-alerting.ts';
import { BatchScheduler } from './batch/batch-scheduler.ts';
import type { BatchSchedulerOptions } from './batch/batch-scheduler.ts';
import { QuerySlots } from './batch/query-slots.ts';
import { startPoints } from './catch-up/stream-feed.ts';
import { hostCountOf } from './config/config.ts';
import type { EngineConfig } from './config/config.ts';
import { Subscriptions } from './database/subscriptions.ts';
import type { Instance } from './database/subscriptions.ts';
import { Sideloads } from './services/sideload.ts';
import { PointRouter } from './ingest/point-router.ts';
import { UdpInputs } from './ingest/udp-inputs.ts';
import type { UdpListening } from './ingest/udp-inputs.ts';
import { WritePath } from './ingest/write-path.ts';
import { METRIC_PREFIX } from './observability/metric-table.ts';
import { checkAccess } from './tasks/check-access.ts';
import { Reach } from './tasks/reach.ts';
import { checkCluster, httpClient, taskServices } from './services/task-services.ts';
import type { EngineServices } from './services/task-services.ts';
import { openUserFunctions } from './services/user-functions.ts';
import type { UserFunctions } from './services/user-functions.ts';
import type { TaskRecord, TemplateRecord } from './store/records.ts';
import type { Stores } from './open-stores.ts';
import { LogFeed } from './cluster/log-feed.ts';
import { TaskBalance } from './cluster/task-balance.ts';
import { ChangeLock } from './tasks/change-lock.ts';
import type { BuildEnvironment } from './tasks/definition.ts';
import { Executor } from './tasks/executor.ts';
import type { CreateTask, SavedUnit } from './tasks/executor.ts';
import { Snapshots } from './tasks/snapshots.ts';
import { taskLimits } from './tasks/task-options.ts';
import type { TaskSetting } from './tasks/task-options.ts';
import { TaskService } from './tasks/task-service.ts';
import { TaskChecks } from './tasks/task-checks.ts';
import { TaskStarts } from './tasks/task-starts.ts';
import { TaskVersions } from './tasks/task-versions.ts';
import type { TaskVersionsRecord } from './tasks/task-versions.ts';
import { TemplateService } from './tasks/template-service.ts';

export type TaskParts = {
  readonly router: PointRouter;
  readonly writes: WritePath;
  readonly scheduler: BatchScheduler;
  readonly subscriptions: Subscriptions;
  readonly executor: Executor;
  readonly snapshots: Snapshots;
  readonly tasks: TaskService;
  readonly checks: TaskChecks;
  readonly starts: TaskStarts;
  readonly templates: TemplateService;
  readonly sideloads: Sideloads;
  readonly servicesOf: (taskId: string) => EngineServices;
  /** Threads that run tasks; `undefined` when tasks run in this one. */
  readonly hosts: HostPool | undefined;
  /** In a cluster: where tasks run. */
  readonly balance: TaskBalance | undefined;
  readonly createTask: CreateTask;
  /** Shared by all runs of tasks. */
  readonly setting: TaskSetting;
  readonly environment: () => BuildEnvironment;
  /** Requests by endpoint, and how long writes and queries take. */
  readonly metrics: RequestMetrics;
};

/**
 * Opens the parts that run tasks; none runs yet. Closed with `parts`, after acknowledged points are
 * processed.
 */
export async function openTasks(
  stores: Stores,
  alerting: Alerting,
  parts: OpenParts,
): Promise<TaskParts> {
  const { config, clock, metadata, logs } = stores;
  const { alerts } = alerting;
  const points = pointsOf(stores, alerting);
  const records = metadata.table<TaskRecord>('tasks');
  const snapshots = new Snapshots({
    metadata,
    clock,
    log: logs.logger('snapshot'),
    effectsStored: () => bothStored(alerts.stored(), stores.shared?.points.loopedKept()),
    isEnabled: (task) => records.get(task)?.status === 'enabled',
  });
  const { feed, metrics } = queriesOf(stores);
  const scheduler = new BatchScheduler(feed);
  const functions = await openUserFunctions(config, clock, logs.logger('udf'));
  const hosts = taskHosts(stores, alerting, functions);
  if (hosts !== undefined) parts.add(() => hosts.close());
  const { router, subscriptions } = points;
  const { servicesOf, sideloads } = servicesOfTasks(stores, alerting, { router, functions });
  const create = createTaskIn(hosts);
  const setting = { clock, limits: taskLimits(config), alerts: () => alerts.defaults };
  const { shared } = stores;
  const savedSequence = (unit: SavedUnit): number | undefined => snapshots.sequenceOf(unit);
  const logged = { router, clock, log: feed.log, savedSequence };
  const executor = new Executor({
    createTask: create,
    savedState: (unit) => snapshots.saved(unit),
    beginning: (unit) => snapshots.beginning(unit),
    clock,
    addTopicOrigins: (topics, databases) => alerts.addOrigins(topics, databases),
    catchUp: shared === undefined ? config.task : { ...config.task, catchUpMs: FROM_LOG_MS },
    log: feed.log,
    services: servicesOf,
    setting,
    startPoints: (unit, setup) =>
      shared === undefined
        ? startPoints({ ...feed, router, linked: () => subscriptions.linked() }, unit, setup)
        : new LogFeed({ ...logged, points: shared.points }, unit, setup),
    startQueries: (unit, setup) => scheduler.start(unit, setup),
  });
  const balance = await balanceOf(stores, { hosts, executor, snapshots }, parts);
  parts.add(async () => {
    await router.drained();
    await executor.stopAll(stores.stop.leftFor('tasks'));
  });
  if (balance !== undefined) parts.add(() => balance.close());
  const environment = (): BuildEnvironment => ({
    udfs: functions.registry,
    deadman: deadmanOf(config),
    checkAccess: (pipeline) => checkAccess(pipeline, stores.access),
  });
  return {
    ...points,
    scheduler,
    executor,
    snapshots,
    sideloads,
    servicesOf,
    hosts,
    balance,
    createTask: create,
    setting,
    environment,
    metrics,
    ...definitions(stores, alerting, { executor, snapshots, subscriptions, environment }),
  };
}

/** Lets the tasks of a cluster run on other instances as well. */
async function balanceOf(
  stores: Stores,
  parts: Pick<TaskParts, 'hosts' | 'executor' | 'snapshots'>,
  open: OpenParts,
): Promise<TaskBalance | undefined> {
  const { shared, config, clock, logs } = stores;
  const { hosts, executor, snapshots } = parts;
  if (shared === undefined || hosts === undefined) return undefined;
  const remote = await shared.openRemoteHosts(hosts, identityOf(stores));
  open.add(() => remote.close());
  return new TaskBalance({
    pool: hosts,
    remote,
    executor,
    snapshots,
    self: shared.self,
    hostCount: hostCountOf(config),
    clock,
    logger: logs.logger('cluster'),
  });
}

/** A task of a cluster continues from any state: the log has all later points. */
const FROM_LOG_MS = 100 * 365 * 86_400_000;

/** The source of the points of stream tasks. */
function pointsOf(
  stores: Stores,
  { alerts }: Alerting,
): Pick<TaskParts, 'router' | 'writes' | 'subscriptions'> {
  const { config, clock, clusters, logs } = stores;
  const router = new PointRouter(config.task.maxWaitingPoints);
  const writes = new WritePath(router, {
    clock,
    settled: () => alerts.stored(),
    points: stores.shared?.points,
  });
  const subscriptions = new Subscriptions({
    clusters,
    udp: udpListeningOf(stores, writes),
    clock,
    log: logs.logger('subscriptions'),
    ...subscriberOf(stores),
    isSecure: config.http.httpsEnabled,
    token: stores.authenticator?.subscriberToken,
    instances: stores.shared === undefined ? undefined : () => instancesOf(stores),
  });
  return { router, writes, subscriptions };
}

/** How tasks query databases, for their queries and for missed points. */
function queriesOf({ config, clock, clusters, logs }: Stores): {
  readonly feed: BatchSchedulerOptions;
  readonly metrics: RequestMetrics;
} {
  const metrics = new RequestMetrics(METRIC_PREFIX, {
    queries: 'Time of queries of tasks to a database, from their turn to their answer.',
  });
  const slots = new QuerySlots({
    clock,
    concurrency: Math.max(1, config.task.maxQueries),
    timeoutMs: config.task.queryTimeoutMs,
    onEnd: (seconds) => metrics.queries.observe(seconds),
  });
  return {
    feed: { clusters, clock, slots, config: config.task, log: logs.logger('task') },
    metrics,
  };
}

/**
 * The owner of the subscriptions. In a cluster they are those of the cluster in either mode: the
 * next leader replaces them, and any instance forwards what still arrives.
 */
function subscriberOf(stores: Stores): ReturnType<typeof identityOf> {
  const identity = identityOf(stores);
  return stores.shared === undefined ? identity : { ...identity, serverId: identity.clusterId };
}

/** The addresses under which databases reach the instances of a cluster. */
function instancesOf({ shared }: Stores): readonly Instance[] {
  const instances = (shared?.members() ?? []).map(({ id, pid, isAlive, hostname, url }) => {
    const { port, protocol } = new URL(url);
    return {
      hostname,
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      life: `${id} ${pid} ${isAlive}`,
    };
  });
  return instances.sort((a, b) =>
    `${a.hostname}:${a.port}`.localeCompare(`${b.hostname}:${b.port}`),
  );
}

/** Listens for subscriptions over UDP: in a cluster all instances do, and forward the points. */
function udpListeningOf(stores: Stores, writes: WritePath): UdpListening {
  const { shared, authenticator, logs, config } = stores;
  const log = logs.logger('subscriptions');
  if (shared !== undefined) return shared.udp(authenticator?.subscriberToken, log);
  const inputs = new UdpInputs({ write: (body, target) => writes.write(body, target), log });
  const { hostname } = config[''];
  return {
    listen: async (section, wanted) =>
      (await inputs.listen(section, wanted)).map((port) => [{ hostname, port }]),
    close: () => inputs.close(),
  };
}

/** The names of this engine at other services. */
export function identityOf({
  config,
  metadata,
  shared,
}: Pick<Stores, 'config' | 'metadata' | 'shared'>): {
  readonly hostname: string;
  readonly clusterId: string;
  readonly serverId: string;
} {
  const { serverId } = metadata;
  const clusterId = shared?.clusterId ?? metadata.clusterId;
  return { hostname: config[''].hostname, clusterId, serverId };
}

/** Resolves when both are stored; `undefined` when neither has to be awaited. */
function bothStored(
  some: Promise<void> | undefined,
  others: Promise<void> | undefined,
): Promise<void> | undefined {
  if (some === undefined || others === undefined) return some ?? others;
  return Promise.all([some, others]).then(() => undefined);
}

/** Creates tasks in other threads, or in this one, where they share the numbers of series. */
function createTaskIn(hosts: HostPool | undefined): CreateTask {
  if (hosts !== undefined) {
    return (pipeline, services, task) => hosts.createTask(pipeline, services, task);
  }
  const thread = { series: new SeriesTable() };
  return (pipeline, services, task) => createTask(pipeline, services, task, thread);
}

function taskHosts(
  stores: Stores,
  { alerts }: Alerting,
  { functions }: UserFunctions,
): HostPool | undefined {
  const { config, clock, logs, stop } = stores;
  const { hostMemory, hostTimeoutMs, stopTimeoutMs } = config.task;
  const hostCount = hostCountOf(config);
  if (hostCount === 0) return undefined;
  const log = logs.logger('udf');
  const options: HostPoolOptions = {
    clock,
    server: identityOf(stores),
    functions,
    followStates: (listener) => alerts.followStates(listener),
    inhibitions: alerts.inhibitions,
    log: logs.logger('task'),
    logUdf: (udf, line) => log('info', line, { udf }),
    hostCount,
    memoryMiB: hostMemory,
    hostTimeoutMs,
    stopTimeoutMs: () => stop.idleMs(stopTimeoutMs),
    openHost: stores.shared?.openHost,
  };
  return new HostPool(options);
}

function servicesOfTasks(
  stores: Stores,
  { alerts, context }: Alerting,
  { router, functions }: { readonly router: PointRouter; readonly functions: UserFunctions },
): Pick<TaskParts, 'servicesOf' | 'sideloads'> {
  const { http, logs, clock, clusters, overrides, redactor } = stores;
  const outgoing = {
    http,
    sections: overrides,
    resolveSecret: context.resolveSecret,
    redact: redactor.redactOwn,
  };
  const { endpoint } = httpClient(outgoing);
  const sideloads = new Sideloads({ http, endpoint, access: stores.access });
  const options = {
    ...outgoing,
    udf: functions.connector,
    sideloads,
    alerts,
    clusters,
    router,
    points: stores.shared?.points,
    logs,
    server: identityOf(stores),
    clock,
  };
  return { sideloads, servicesOf: (taskId) => taskServices(options, taskId) };
}

function definitions(
  { config, metadata, logs, clusters, clock, redactor, shared }: Stores,
  { alerts }: Alerting,
  parts: Pick<TaskParts, 'executor' | 'snapshots' | 'subscriptions' | 'environment'>,
): Pick<TaskParts, 'tasks' | 'checks' | 'starts' | 'templates'> {
  const { executor, snapshots, subscriptions, environment } = parts;
  const log = logs.logger('task_store');
  const records = metadata.table<TaskRecord>('tasks');
  const templateRecords = metadata.table<TemplateRecord>('templates');
  const lock = new ChangeLock();
  const checks = new TaskChecks({
    environment,
    alerts,
    reach: new Reach({ alerts, clusters, clock }),
    checkNode: (node) => checkCluster(node, clusters),
  });
  const starts = new TaskStarts({
    lock,
    records,
    checks,
    executor,
    snapshots,
    redactor,
    onStarted: () => subscriptions.requestSync(),
    log: (message, fields) => log('error', message, fields),
  });
  const tasks = new TaskService({
    metadata,
    lock,
    tasks: records,
    templates: templateRecords,
    versions: new TaskVersions(
      metadata.table<TaskVersionsRecord>('task-versions'),
      config.task.keepVersions,
    ),
    executor,
    starts,
    alerts,
    environment,
    split: {
      isOn: shared !== undefined,
      byDefault: shared === undefined ? 1 : config.cluster.splitTasks,
    },
    redactor,
    clock,
  });
  const templates = new TemplateService({
    templates: templateRecords,
    tasks,
    lock,
    environment,
    clock,
  });
  return { tasks, checks, starts, templates };
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
