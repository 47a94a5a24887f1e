// The pool of task hosts: places tasks, checks that every host responds, and restarts the tasks of
// a failed one.
import { assert, LATE, messageOf, within } from '@tidemark/core';
import type { Inhibitions } from '../inhibitions.ts';
import type { Clock } from '@tidemark/core';
import type { Pipeline } from '@tidemark/pipeline';
import { unitName } from '../part.ts';
import type { RunningTask, TaskOptions } from '../running-task.ts';
import type { LogLevel, TaskServices } from '../services.ts';
import { VirtualTimers } from '../timers.ts';
import type { HostEnd, HostLocation } from './host-link.ts';
import { serveItem } from './host-items.ts';
import { HostTopics } from './host-topics.ts';
import { RpcClient } from './rpc-client.ts';
import { RpcServer } from './rpc-server.ts';
import type { FollowStates, HostedTaskServices } from './hosted-services.ts';
import { HostedTask } from './hosted-task.ts';
import type { FromHost, HostItem } from './protocol.ts';
import { topicsOf } from './task-start.ts';
import { openThread } from './thread-link.ts';
import type { OpenLocalHost } from './thread-link.ts';
import type { UdfFunctionConfig } from './udf-connector.ts';

/**
 * A task, or a host for no known task, that fails again within this time is not restarted a second
 * time.
 */
const FAILURE_WINDOW_MS = 60_000;
/** Interval of checking that hosts answer. */
export const HOST_CHECK_MS = 1_000;
/** A host without any message yet is loading its program: its time limit is multiplied by this. */
const LOADING_PATIENCE = 6;
/** Loads (milliseconds of work per second) that differ by less are the same. */
const LOAD_STEP_MS = 50;

export type HostPoolOptions = {
  /** Threads; they are started when tasks need them. */
  readonly hostCount: number;
  /** The machine's clock: hosts have one of their own. */
  readonly clock: Clock;
  readonly functions: ReadonlyMap<string, UdfFunctionConfig>;
  readonly server: TaskServices['server'];
  /** Heap of each host in MiB; 0 leaves it to the platform. */
  readonly memoryMiB: number;
  /** A host that does not answer for this long is ended. */
  readonly hostTimeoutMs: number;
  /** A task that makes no progress for this long while it is stopped is given up. */
  readonly stopTimeoutMs: () => number;
  readonly followStates: FollowStates;
  /** Those of all tasks. */
  readonly inhibitions: Inhibitions;
  readonly log: (
    level: LogLevel,
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ) => void;
  /** Gets what user-defined functions write to standard error. */
  readonly logUdf: (functionName: string, line: string) => void;
  /** Default: as threads. */
  readonly openHost?: OpenLocalHost | undefined;
};

/** In this process. */
export const LOCAL_HOSTS = '';

/** A task and where it runs. */
export type PlacedTask = {
  readonly task: RunningTask;
  /** See `unitName`. */
  readonly unit: string;
  readonly location: string;
};

type Host = {
  readonly location: Location;
  readonly index: number;
  /** False for a host that was opened for a single task which has caused a failure. */
  readonly isShared: boolean;
  readonly client: RpcClient;
  readonly rpcServer: RpcServer;
  readonly tasks: Map<number, HostedTask>;
  readonly topics: HostTopics;
  ping: { readonly id: number; checks: number; readonly waiting: (() => void)[] } | undefined;
};

type Location = { readonly at: HostLocation; readonly hosts: (Host | undefined)[] };

export class HostPool {
  readonly #options: HostPoolOptions;
  readonly #own: Location;
  readonly #locations = new Map<string, Location>();
  readonly #all = new Set<Host>();
  /**
   * Tasks that were about to start on a host that was lost, and whether they may have caused that.
   */
  readonly #displaced = new Map<HostedTask, { readonly isSuspect: boolean }>();
  readonly #topicsOf = new Map<number, readonly string[]>();
  readonly #stopFollowing: () => void;
  #nextTask = 1;
  #nextPing = 1;
  #lastUnblamedMs = Number.NEGATIVE_INFINITY;
  /** The host whose items are being handled, which need not be notified of its own changes. */
  #origin: Host | undefined;
  #isClosed = false;
  #choose: (unit: string) => string = () => LOCAL_HOSTS;

  constructor(options: HostPoolOptions) {
    assert(options.hostCount > 0, 'a pool has hosts');
    this.#options = options;
    const { functions, server, memoryMiB, hostCount, openHost = openThread } = options;
    const settings = { functions, server, memoryMiB };
    this.#own = this.addLocation({
      id: LOCAL_HOSTS,
      hostCount,
      openHost: (index, events) => openHost({ ...settings, name: `task-host-${index}` }, events),
    });
    const stops = [
      options.followStates((topic, eventId, state) => {
        for (const host of this.#all)
          if (host !== this.#origin) host.topics.changed(topic, eventId, state);
      }),
      options.inhibitions.follow((inhibition, isActive) => {
        for (const host of this.#all) {
          if (host !== this.#origin) host.client.send({ kind: 'inhibition', inhibition, isActive });
        }
      }),
    ];
    this.#stopFollowing = () => {
      for (const stop of stops) stop();
    };
  }

  /** Tasks can run there from now on; `choose` decides the location of each. */
  addLocation(at: HostLocation): Location {
    const location: Location = { at, hosts: Array.from({ length: at.hostCount }, () => undefined) };
    this.#locations.set(at.id, location);
    return location;
  }

  /** No more tasks are placed there. Existing ones stay until their hosts end. */
  removeLocation(id: string): void {
    assert(id !== LOCAL_HOSTS, 'this process stays');
    this.#locations.delete(id);
  }

  /**
   * Called for every task, or part of one, that is placed. A location that is gone counts as this
   * process.
   */
  chooseBy(choose: (unit: string) => string): void {
    this.#choose = choose;
  }

  /** The locations of the tasks, without replays. */
  placed(): readonly PlacedTask[] {
    const found: PlacedTask[] = [];
    for (const host of this.#hosts())
      for (const task of host.tasks.values())
        if (!task.isReplay) found.push({ task, unit: task.unit, location: host.location.at.id });
    return found;
  }

  /**
   * Moves a task to another location, where it continues from `savedState`, as after a failure of
   * its host.
   */
  async move(task: RunningTask, locationId: string): Promise<void> {
    assert(task instanceof HostedTask, 'tasks of a pool are hosted');
    const from = this.#hostOf(task);
    const location = this.#locations.get(locationId);
    if (from === undefined || location === undefined) return;
    if (!task.isStarted || task.isEnding || from.location === location) return;
    this.#leave(task, from);
    const to = this.#leastLoaded(location);
    this.#place(task, to);
    from.client.send({ kind: 'discard', task: task.id });
    await task.restart(to.client, undefined);
  }

  /** Creates a task; `start` creates its nodes, and rejects with their errors. */
  createTask(pipeline: Pipeline, services: HostedTaskServices, options: TaskOptions): HostedTask {
    const isMovable = options.timers === undefined || options.timers instanceof VirtualTimers;
    assert(isMovable, 'timers of hosted tasks are virtual or those of the machine');
    // The data of a replay is only here.
    const location =
      options.isReplay === true ? this.#own : this.#chosen(unitName(options.taskId, options.part));
    const host = this.#leastLoaded(location);
    const id = this.#nextTask++;
    const task = new HostedTask(host.client, {
      id,
      pipeline,
      services,
      options,
      stopTimeoutMs: this.#options.stopTimeoutMs,
      onEnd: () => this.#ended(task),
      giveUpHost: (client, reason) => client.terminate({ isExpected: false, reason }),
      isAnswering: (client) => this.#isAnswering(client),
      elsewhere: () => this.#elsewhere(task),
    });
    this.#topicsOf.set(id, topicsOf(pipeline, options));
    this.#place(task, host);
    return task;
  }

  /**
   * Called every `HOST_CHECK_MS`: asks all hosts for their load, and ends those that do not answer.
   */
  async check(): Promise<void> {
    const late: Host[] = [];
    for (const host of this.#hosts()) {
      if (host.client.isLost) continue;
      if (host.ping === undefined) {
        this.#ping(host);
        continue;
      }
      // Counted in checks: after a pause of the whole process no host is late.
      host.ping.checks++;
      const patience = host.client.isUp ? 1 : LOADING_PATIENCE;
      if (host.ping.checks * HOST_CHECK_MS >= this.#options.hostTimeoutMs * patience)
        late.push(host);
    }
    for (const host of late) {
      const reason = `task host did not answer for ${this.#options.hostTimeoutMs} ms`;
      await host.client.terminate({ isExpected: false, reason });
    }
  }

  /** Number of hosts that run in this process. */
  get runningCount(): number {
    return this.#own.hosts.filter((host) => host !== undefined).length;
  }

  /** Ends all hosts. Tasks must have been closed before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopFollowing();
    for (const host of this.#hosts()) {
      host.rpcServer.close();
      await host.client.terminate({ isExpected: true });
    }
    this.#all.clear();
    this.#own.hosts.fill(undefined);
  }

  #hosts(): readonly Host[] {
    return [...this.#all];
  }

  #chosen(unit: string): Location {
    return this.#locations.get(this.#choose(unit)) ?? this.#own;
  }

  #still({ at }: Location): Location {
    return this.#locations.get(at.id) ?? this.#own;
  }

  #leastLoaded(location: Location): Host {
    let best: { readonly index: number; readonly load: number; readonly count: number } | undefined;
    for (let index = 0; index < location.at.hostCount; index++) {
      const host = location.hosts[index];
      let loadMs = 0;
      for (const task of host?.tasks.values() ?? []) loadMs += task.loadMs;
      const load = Math.round(loadMs / LOAD_STEP_MS);
      const count = host?.tasks.size ?? 0;
      const isBetter =
        best === undefined || load < best.load || (load === best.load && count < best.count);
      if (isBetter) best = { index, load, count };
    }
    assert(best !== undefined, 'a pool has hosts');
    return location.hosts[best.index] ?? this.#open(location, best.index);
  }

  #open(location: Location, index: number): Host {
    const tasks = new Map<number, HostedTask>();
    const client = new RpcClient((events) => location.at.openHost(index, events), {
      item: (item) => this.#handle(host, item),
      taken: (task, rowCount) => tasks.get(task)?.taken(rowCount),
      pong: (message) => this.#pong(host, message),
      lost: (end) => this.#lost(host, end),
    });
    const rpcServer = new RpcServer({
      servicesOf: (task) => tasks.get(task)?.services,
      sendDocuments: (source, documents) => client.send({ kind: 'documents', source, documents }),
    });
    const isShared = index < location.at.hostCount;
    const topics = new HostTopics((message) => client.send(message));
    const host: Host = {
      location,
      index,
      isShared,
      client,
      rpcServer,
      tasks,
      topics,
      ping: undefined,
    };
    location.hosts[index] = host;
    this.#all.add(host);
    for (const inhibition of this.#options.inhibitions.active()) {
      client.send({ kind: 'inhibition', inhibition, isActive: true });
    }
    return host;
  }

  #place(task: HostedTask, host: Host): void {
    host.tasks.set(task.id, task);
    for (const topic of this.#topicsOf.get(task.id) ?? [])
      host.topics.add(topic, () => task.services.alerts.eventStates(topic));
  }

  #ended(task: HostedTask): void {
    const host = this.#hostOf(task);
    if (host !== undefined) this.#leave(task, host);
    this.#displaced.delete(task);
    this.#topicsOf.delete(task.id);
  }

  /** The location of a task; `undefined` for one that has ended. */
  locationOf(task: RunningTask): string | undefined {
    assert(task instanceof HostedTask, 'tasks of a pool are hosted');
    return this.#hostOf(task)?.location.at.id;
  }

  #hostOf(task: HostedTask): Host | undefined {
    return this.#hosts().find((each) => each.tasks.has(task.id));
  }

  #leave(task: HostedTask, host: Host): void {
    host.tasks.delete(task.id);
    for (const topic of this.#topicsOf.get(task.id) ?? []) host.topics.remove(topic);
    if (!host.isShared && host.tasks.size === 0) this.#dismiss(host);
  }

  #dismiss(host: Host): void {
    this.#forget(host);
    host.rpcServer.close();
    host.client.terminate({ isExpected: true }).catch((cause: unknown) => {
      this.#options.log('error', 'failed to end a task host', { err: String(cause) });
    });
  }

  /** A host for one task that has caused a failure, so that no others are affected again. */
  #openReserved(location: Location): Host {
    let index = location.at.hostCount;
    while (location.hosts[index] !== undefined) index++;
    return this.#open(location, index);
  }

  #forget(host: Host): void {
    this.#all.delete(host);
    if (host.location.hosts[host.index] === host) host.location.hosts[host.index] = undefined;
  }

  /** Another host for a task whose host was lost before it was started. */
  #elsewhere(task: HostedTask): RpcClient | undefined {
    const displaced = this.#displaced.get(task);
    this.#displaced.delete(task);
    if (this.#isClosed || displaced === undefined) return undefined;
    const host = displaced.isSuspect ? this.#openReserved(this.#own) : this.#leastLoaded(this.#own);
    this.#place(task, host);
    return host.client;
  }

  #handle(host: Host, item: HostItem): void {
    this.#origin = host;
    try {
      serveItem(host, item, this.#options.logUdf);
    } catch (cause) {
      // A service refused a message of a task in another thread; the task cannot be notified any
      // more.
      const message = messageOf(cause);
      this.#options.log('error', 'failed to serve a task', { item: item.kind, err: message });
    } finally {
      this.#origin = undefined;
    }
  }

  #ping(host: Host): NonNullable<Host['ping']> {
    const ping = { id: this.#nextPing++, checks: 0, waiting: [] };
    host.ping = ping;
    host.client.send({ kind: 'ping', id: ping.id });
    return ping;
  }

  #pong(host: Host, { collected, busyMs }: FromHost & { kind: 'pong' }): void {
    for (const wake of host.ping?.waiting ?? []) wake();
    host.ping = undefined;
    for (const [id, count] of collected) host.tasks.get(id)?.collected(count);
    for (const task of host.tasks.values()) task.loadMs = 0;
    for (const [id, ms] of busyMs) {
      const task = host.tasks.get(id);
      if (task !== undefined) task.loadMs = ms;
    }
  }

  /** Whether the host answers within the time of one check. */
  async #isAnswering(client: RpcClient): Promise<boolean> {
    const host = this.#hosts().find((each) => each.client === client);
    if (host === undefined || client.isLost) return false;
    const ping = host.ping ?? this.#ping(host);
    const answered = new Promise<boolean>((resolve) => ping.waiting.push(() => resolve(true)));
    return (await within(this.#options.clock, HOST_CHECK_MS, answered)) !== LATE;
  }

  #lost(host: Host, { reason, currentTask, isOfLocation }: HostEnd): void {
    this.#forget(host);
    host.rpcServer.close();
    for (const wake of host.ping?.waiting ?? []) wake();
    if (this.#isClosed) return;
    if (isOfLocation && host.tasks.size > 0)
      this.#log('warn', 'tasks go on elsewhere', host, { err: reason });
    const now = this.#options.clock.monotonicMs();
    const blamed = host.tasks.get(currentTask);
    if (!isOfLocation)
      this.#log('error', 'task host failed', host, { task: blamed?.taskId, err: reason });
    const isUnknown = blamed === undefined && !isOfLocation;
    const isHopeless = isUnknown && now - this.#lastUnblamedMs < FAILURE_WINDOW_MS;
    if (isUnknown) this.#lastUnblamedMs = now;
    const where = blamed === undefined ? '' : ` while it worked for task ${blamed.taskId}`;
    const text = `task host failed${where}: ${reason}`;
    // A copy, because tasks leave the host during the iteration.
    for (const task of Array.from(host.tasks.values())) {
      if (task.isEnding) continue;
      const isSuspect = task === blamed;
      const isRepeated = isSuspect && now - task.lastBlameMs < FAILURE_WINDOW_MS;
      if (isSuspect) task.lastBlameMs = now;
      const isOver = isRepeated || isHopeless || task.isReplay;
      if (!task.isStarted) {
        // The request that it waits for reports whether it can start elsewhere.
        if (isOfLocation || !isOver) this.#displaced.set(task, { isSuspect });
      } else if (isOver) task.fail(text);
      else this.#restart(task, { from: host, isSuspect, reason: isOfLocation ? undefined : text });
    }
  }

  #log(
    level: LogLevel,
    message: string,
    { index, location }: Host,
    fields: Readonly<Record<string, unknown>>,
  ): void {
    const at = location === this.#own ? {} : { instance: location.at.id };
    this.#options.log(level, message, { host: index, ...at, ...fields });
  }

  #restart(
    task: HostedTask,
    {
      from,
      isSuspect,
      reason,
    }: {
      readonly from: Host;
      readonly isSuspect: boolean;
      /** `undefined`: nothing to report about the task. */
      readonly reason: string | undefined;
    },
  ): void {
    this.#leave(task, from);
    const location = reason === undefined ? this.#chosen(task.unit) : this.#still(from.location);
    const host = isSuspect ? this.#openReserved(location) : this.#leastLoaded(location);
    this.#place(task, host);
    const message = reason === undefined ? undefined : `${reason}; the task was started again`;
    task.restart(host.client, message).catch((cause: unknown) => {
      task.fail(`${reason ?? 'the task was moved'}; starting again failed: ${String(cause)}`);
    });
  }
}
