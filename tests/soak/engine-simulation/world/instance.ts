// One instance in a simulation: the real role, copy, log and membership over a coordinator in
// memory, with a clock that can be stopped and a network that can be cut.
import { MemoryCoordinator, Membership } from '@tidemark/cluster/testing';
import type { MemoryServer } from '@tidemark/cluster/testing';
import type { OpenParts } from '@tidemark/core';
import { levelOf, THIS_BUILD } from '../../../../packages/engine/src/shared-log/build.ts';
import { HostServer } from '../../../../packages/engine/src/cluster/host-server.ts';
import type { Identity } from '../../../../packages/engine/src/cluster/identity.ts';
import { InstanceRole } from '../../../../packages/engine/src/cluster/instance-role.ts';
import type { Term } from '../../../../packages/engine/src/cluster/instance-role.ts';
import { PointLog } from '../../../../packages/engine/src/shared-log/point-log.ts';
import { RecordingExchange } from '../../../../packages/engine/src/cluster/recording-exchange.ts';
import { RemoteHosts } from '../../../../packages/engine/src/cluster/remote-hosts.ts';
import { UnreadablePoints } from '../../../../packages/engine/src/shared-log/unreadable-points.ts';
import type { LogSink } from '../../../../packages/engine/src/observability/log-hub.ts';
import type { Shared } from '../../../../packages/engine/src/open-stores.ts';
import { LeaderEngine } from './leader-engine.ts';
import type { SimulatedLoad } from './leader-engine.ts';
import { openInMemory } from './memory-disk.ts';
import { senderTo } from './receiver.ts';
import type { Told } from './receiver.ts';
import { SimulatedHost } from './simulated-host.ts';
import { ProcessClock } from './timeline.ts';
import type { Timeline } from './timeline.ts';
import { breakWires, dialFrom } from './wire.ts';
import type { WireEnd } from './wire.ts';

export const LEASE_MS = 1000;

/** How long an instance that stops waits for its tasks to be taken away. */
const LEAVE_MS = 5000;

export const SIMULATED_KEY = {
  setting: 'env:KEY',
  environment: { KEY: 'k'.repeat(32) },
  openFile: openInMemory,
};

export type InstanceWorld = {
  readonly timeline: Timeline;
  readonly server: MemoryServer;
  /** Delay of a message between processes. */
  readonly delayMs: () => number;
  /** Delay of a message between threads. */
  readonly threadDelayMs: () => number;
  readonly isAnswerLost: () => boolean;
  /** Whether a request to a receiver finds a connection. */
  readonly isConnected: () => boolean;
  readonly recordsAtOnce: number;
  /** The server that tasks post to does not answer. */
  readonly isHanging: () => boolean;
  /** Files with definitions, for one that begins to lead. */
  readonly load: () => SimulatedLoad | undefined;
  readonly trace: (line: string) => void;
  /** Somebody was told of an event in a term. */
  readonly told: (event: Told & { readonly term: number }) => void;
  /** A host was let fail. */
  readonly hostEnded: () => void;
  /** A host sends points of a loopback node. */
  readonly loops: () => void;
  /** A host has failed that nobody has let fail. */
  readonly hostFailed: (reason: string) => void;
  /** A task of a leader has ended by itself. */
  readonly taskDied: (task: string) => void;
  /** A line of the log has a value that is missing. */
  readonly misworded: (line: string) => void;
  /** The process ends by itself; somebody starts it again. */
  readonly ended: () => void;
  /** The listener at a URL. */
  readonly at: (url: string) => WireEnd | undefined;
};

/** The parts of the system from which an instance is cut off. */
export type Cut = 'nothing' | 'coordinator' | 'all';

export class Instance implements WireEnd {
  readonly name: string;
  readonly directory: string;
  readonly clock: ProcessClock;
  readonly #world: InstanceWorld;
  readonly #killed = new AbortController();
  readonly #ownHosts = new Set<SimulatedHost>();
  isDrained = false;
  #toldMs = 0;
  #crashesAt: 'start' | 'state' | undefined;
  cut: Cut = 'nothing';
  #role: InstanceRole | undefined;
  /** The role of an ended process. */
  #forgotten: InstanceRole | undefined;
  #membership: Membership | undefined;
  #hosts: HostServer | undefined;
  #engine: LeaderEngine | undefined;
  #term: Term | undefined;
  #identity: Identity | undefined;

  constructor(name: string, directory: string, world: InstanceWorld) {
    this.name = name;
    this.directory = directory;
    this.#world = world;
    this.clock = new ProcessClock(world.timeline);
  }

  /** Begins to start; when that fails the process ends. */
  start(): void {
    this.#open().catch((error: unknown) => {
      this.#trace(`does not start: ${String(error)}`);
      this.#world.ended();
    });
  }

  async #open(): Promise<void> {
    const { server, delayMs, isAnswerLost, recordsAtOnce } = this.#world;
    const { clock } = this;
    const network = {
      isCut: () => this.cut !== 'nothing',
      delayMs,
      isAnswerLost,
      recordsAtOnce,
    };
    const { signal } = this.#killed;
    const coordinator = new MemoryCoordinator({ server, network, clock, signal });
    const logger = this.#logger;
    const role = new InstanceRole({
      coordinator,
      clock,
      logger,
      build: THIS_BUILD,
      cluster: 'simulated',
      directory: this.directory,
      key: SIMULATED_KEY,
      openLeader: (term, parts) => this.#openLeader(term, coordinator, parts),
      ended: () => void (this.#engine = undefined),
    });
    this.#role = role;
    const { id, identity } = await role.open();
    const { secret } = identity;
    this.#hosts = new HostServer({
      hostCount: 1,
      memoryMiB: 0,
      functions: new Map(),
      secret,
      build: THIS_BUILD,
      points: coordinator.points,
      clock,
      leaseMs: LEASE_MS,
      logger,
      openHost: this.#openHost,
    });
    this.#identity = identity;
    const { version } = THIS_BUILD;
    const membership = new Membership({
      coordinator,
      clock,
      leaseMs: LEASE_MS,
      self: { id, url: this.url, hostname: this.name, pid: 1, version, level: levelOf(THIS_BUILD) },
      report: () => ({ replica: role.sequence, problem: role.problem }),
      leased: () => undefined,
      events: {
        // From the thread of the lease.
        elected: () => this.#tell(() => role.elected()),
        drained: () => this.#tell(() => role.drained()),
        lost: (reason) => this.#tell(() => role.lost(reason)),
        looked: () => undefined,
        log: (level, message) => this.#trace(`${level} ${message}`),
      },
    });
    this.#membership = membership;
    await membership.start();
    role.start(membership);
  }

  /** Behind what is due already, and in order. */
  #tell(event: () => void): void {
    const nowMs = this.clock.monotonicMs();
    this.#toldMs = Math.max(this.#toldMs, nowMs + this.#world.threadDelayMs());
    this.clock.after(this.#toldMs - nowMs, event);
  }

  /** Whether something that is sent now comes when this instance leads no more. */
  #sending(): () => boolean {
    const isLeading = this.#membership?.isLeading === true;
    return () => isLeading && this.#membership?.isLeading !== true;
  }

  /** As `ClusterMember` does it. */
  async #openLeader(term: Term, coordinator: MemoryCoordinator, parts: OpenParts): Promise<void> {
    const membership = this.#membership;
    const identity = this.#identity;
    if (membership === undefined || identity === undefined) throw new Error('not a member');
    const { clock } = this;
    const { secret, clusterId } = identity;
    const logger = this.#logger;
    const { metadata, log, signal, role } = term;
    await this.#hosts?.lead(membership.leader?.term ?? 0);
    const unreadable = new UnreadablePoints(this.directory, logger);
    const points = new PointLog({
      log: coordinator.points,
      clock,
      logger,
      build: THIS_BUILD,
      level: () => membership.level,
      unreadable,
      isLeading: () => membership.isLeading,
      signal,
    });
    await points.begin();
    role.throwIfAborted();
    this.#term = term;
    const number = membership.leader?.term ?? 0;
    const instances = { self: membership.id, secret, members: () => membership.members };
    const shared: Shared = {
      metadata,
      points,
      clusterId,
      mayAct: () => membership.isLeading && !signal.aborted,
      role,
      members: () => membership.members,
      changesEnd: () => log.last,
      udp: () => ({ listen: () => Promise.resolve([]), close: () => Promise.resolve() }),
      recordings: new RecordingExchange(instances),
      coordinatorProblem: () => membership.problem,
      drain: (id) => membership.requestDrain(id),
      forget: (id) => membership.forget(id),
      self: membership.id,
      openHost: this.#openHost,
      openRemoteHosts: (pool, server) =>
        RemoteHosts.open({
          pool,
          server,
          secret,
          points,
          clock,
          logger,
          term: number,
          version: THIS_BUILD.version,
          leaseMs: LEASE_MS,
          self: membership.id,
          members: () => membership.members,
          dial: dialFrom(this, this.#world),
        }),
    };
    const { delayMs, isConnected, isHanging, told } = this.#world;
    const sender = senderTo({
      clock,
      timeline: this.#world.timeline,
      delayMs,
      isConnected,
      sending: () => this.#sending(),
      isHanging,
      told: (event) => told({ ...event, term: number }),
    });
    const load = this.#world.load();
    this.#engine = await LeaderEngine.open({ clock, log: this.#sink, sender, shared, load }, parts);
  }

  get url(): string {
    return `http://${this.name}:1`;
  }

  /** Whether it may act in the name of all at this moment, as it sees it. */
  get mayAct(): boolean {
    return this.#membership?.isLeading === true && this.#term?.signal.aborted !== true;
  }

  /** The engine that serves requests; `undefined` if another instance would. */
  get serving(): LeaderEngine | undefined {
    if (!this.clock.isRunning || !this.mayAct) return undefined;
    return this.#engine;
  }

  /** The format level that may be written: all instances know it. */
  get level(): number {
    return this.#membership?.level ?? 0;
  }

  /** Its copy as it is, whatever it believes. */
  get role(): InstanceRole | undefined {
    return this.#role;
  }

  get problem(): string | undefined {
    return this.#role?.problem;
  }

  readonly isIsolated = (): boolean => this.cut === 'all';

  readonly hosts = (): HostServer | undefined => this.#hosts;

  /** Its connections to other instances end. */
  breakWires(): void {
    breakWires(this);
  }

  /** A thread that runs tasks here ends while it works. False when there is none. */
  crashHost(which: number): boolean {
    const alive = [...this.#ownHosts].filter(({ isEnded }) => !isEnded);
    alive[which % Math.max(1, alive.length)]?.crash();
    return alive.length > 0;
  }

  /** The next thread here that is to start a task, or to tell its state, ends meanwhile. */
  crashHostAt(request: 'start' | 'state'): void {
    this.#crashesAt = request;
  }

  /** All threads that run tasks here end; twice ends these tasks. */
  crashHosts(): void {
    for (const host of this.#ownHosts) host.crash(false);
  }

  pause(): void {
    this.clock.stop();
  }

  goOn(): void {
    this.clock.goOn();
  }

  drain(): void {
    this.isDrained = true;
    this.#membership?.drain();
    this.#role?.drained();
  }

  /** Stops in peace. */
  async stop(): Promise<void> {
    this.#membership?.drain();
    await this.#hosts?.leave(LEAVE_MS);
    await this.#role?.stop();
    await this.#membership?.close().catch(() => undefined);
    await this.#hosts?.close();
    await this.kill();
  }

  /** Nothing of it happens any more; its directory stays. */
  async kill(): Promise<void> {
    this.clock.end();
    this.#killed.abort();
    breakWires(this);
    this.#hosts = undefined;
    this.#engine = undefined;
    this.#membership = undefined;
    const role = this.#role;
    this.#role = undefined;
    this.#forgotten ??= role;
    await role?.copy?.close();
  }

  /** The run has ended: ends the signals that Node keeps as long as somebody listens to them. */
  forget(): void {
    this.#forgotten?.lost('the run has ended');
  }

  readonly #openHost: NonNullable<Shared['openHost']> = (options, events) => {
    const { threadDelayMs: delayMs, hostEnded: crashed, hostFailed, loops } = this.#world;
    const failed = (reason: string): void => {
      this.#trace(`a host fails: ${reason}`);
      hostFailed(reason);
    };
    const crashes = (request: 'start' | 'state'): boolean => {
      const isNow = this.#crashesAt === request;
      if (isNow) this.#crashesAt = undefined;
      return isNow;
    };
    const at = { clock: this.clock, delayMs, failed, crashes, crashed, loops };
    const host = new SimulatedHost(options, events, at);
    this.#ownHosts.add(host);
    return host;
  };

  readonly #logger = (
    level: string,
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ): void => {
    const line = `${level} ${message} ${textOf(fields)}`;
    this.#trace(line);
    // The next leader has all points of tasks that die while this one gives up its lead.
    const isLeaving = this.#term?.role.aborted === true;
    if (message === 'task died' && !isLeaving) this.#world.taskDied(String(fields?.task));
    if (/\b(?:undefined|NaN)\b/u.test(line)) this.#world.misworded(line);
  };

  readonly #sink: LogSink = {
    debug: () => undefined,
    info: (fields, message) => this.#logger('info', message, { ...fields }),
    warn: (fields, message) => this.#logger('warn', message, { ...fields }),
    error: (fields, message) => this.#logger('error', message, { ...fields }),
  };

  #trace(line: string): void {
    this.#world.trace(`${this.name}: ${line}`);
  }
}

function textOf(fields: Readonly<Record<string, unknown>> | undefined): string {
  const { err = '', reason = '', term = '', task = '', to = '' } = fields ?? {};
  return [err, reason, term, task, to].map(String).join(' ').trim();
}
