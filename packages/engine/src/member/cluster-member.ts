// An instance of a cluster: it listens, follows the shared log, and leads when it is elected. To
// lead, it opens the engine on its copy, as after a restart (docs/adr/0020-engine-cluster.md).
import type { IncomingMessage } from 'node:http';
import { assert, messageOf, OpenParts, systemClock, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { NatsCoordinator, MemberThread } from '@tidemark/cluster';
import type { CoordinatorOptions } from '@tidemark/cluster';
import { hostCountOf } from '../config/config.ts';
import type { EngineConfig } from '../config/config.ts';
import { listenAddress } from '../config/exposure.ts';
import { answerLive } from '../http/live-route.ts';
import { borderOf, tlsOf } from '../http/open-server.ts';
import { isWritePath } from '../http/routes.ts';
import { recordingsDirectory } from '../open-jobs.ts';
import { LogHub } from '../observability/log-hub.ts';
import type { LogLevel, Logger } from '../observability/log-hub.ts';
import type { Shared } from '../open-stores.ts';
import type { RestoreControl } from '../restartable.ts';
import type { EngineService, StartEngineOptions } from '../engine-service.ts';
import { functionConfigs } from '../services/user-functions.ts';
import { TSDB_SECTION } from '../config/cluster-section.ts';
import { ownDatabaseOf, withDefaultCluster } from '../database/default-cluster.ts';
import { UdpInputs } from '../ingest/udp-inputs.ts';
import type { WritePath } from '../ingest/write-path.ts';
import { levelOf, THIS_BUILD } from '../shared-log/build.ts';
import type { Build } from '../shared-log/build.ts';
import { LeaderProxy } from './leader-proxy.ts';
import type { InThisProcess } from './leader-proxy.ts';
import { HostServer } from '../cluster/host-server.ts';
import type { Identity } from '../cluster/identity.ts';
import { InstanceRole } from '../cluster/instance-role.ts';
import type { Term } from '../cluster/instance-role.ts';
import { PointLog } from '../shared-log/point-log.ts';
import { answerRecordingFile, RecordingExchange } from '../cluster/recording-exchange.ts';
import { RemoteHosts } from '../cluster/remote-hosts.ts';
import { openStandIn } from './stand-in.ts';
import { UnreadablePoints } from '../shared-log/unreadable-points.ts';
import { UdpExchange, UdpRelay } from './udp-exchange.ts';

export type OpenEngineOptions = StartEngineOptions & {
  readonly shared?: Shared | undefined;
  /** The proxy that listens, and gives the engine its requests. */
  readonly proxy?: { readonly url: string; readonly secret: string } | undefined;
  /** Absent if it cannot continue with the metadata of a backup. */
  readonly restoring?: RestoreControl | undefined;
};

type OpenEngine = (
  config: EngineConfig,
  options: OpenEngineOptions,
  parts: OpenParts,
) => Promise<OpenedEngine>;

/** An engine as the process that opens it uses it. */
export type OpenedEngine = EngineService &
  InThisProcess & {
    /** Writes points without a request. */
    readonly writes: Pick<WritePath, 'write'>;
  };

export type ClusterMemberOptions = StartEngineOptions & { readonly openEngine: OpenEngine };

/** How long requests wait for the next leader, in leases. */
const WAIT_LEASES = 3;

/** How long a write waits for a silent leader before this instance accepts it: share of a lease. */
const SILENCE_LEASES = 1 / 3;

/** Joins the cluster. Open parts are closed with `parts`. */
export async function openClusterMember(
  config: EngineConfig,
  options: ClusterMemberOptions,
  parts: OpenParts,
): Promise<EngineService> {
  const clock = options.clock ?? systemClock();
  const level = config.logging.level.toLowerCase() as LogLevel | 'off';
  const logs = new LogHub(options.log, clock, level, (text) => text);
  parts.add(() => logs.close());
  const coordinator = await NatsCoordinator.open(coordinatorOf(config));
  parts.add(() => coordinator.close());
  const member = new ClusterMember(config, {
    ...options,
    clock,
    coordinator,
    build: options.build ?? THIS_BUILD,
    logs,
    logger: logs.logger('cluster'),
  });
  parts.add(() => member.close());
  const url = await member.open();
  return {
    url,
    reload: () => member.reload(),
    abandon: () => member.abandon(),
    close: () => parts.close(),
  };
}

function coordinatorOf({ cluster }: EngineConfig): CoordinatorOptions {
  const { coordinator: urls, login, name, replicas } = cluster;
  return { urls, login, name, replicas };
}

type MemberParts = ClusterMemberOptions & {
  readonly clock: Clock;
  readonly coordinator: NatsCoordinator;
  readonly build: Build;
  readonly logs: LogHub;
  readonly logger: Logger;
};

class ClusterMember {
  readonly #config: EngineConfig;
  readonly #parts: MemberParts;
  readonly #role: InstanceRole;
  #identity: Identity = { clusterId: '', secret: '', keyCheck: '', log: '' };
  #proxy: LeaderProxy | undefined;
  /** The hosts that it runs for another leader. */
  #hosts: HostServer | undefined;
  /** Listens for databases, whichever instance leads. */
  readonly #udp: UdpInputs;
  readonly #relay: UdpRelay;
  readonly #unreadable: UnreadablePoints;
  #url = '';
  /** Accepts writes in this instance while no instance leads. */
  #standIn: InThisProcess | undefined;
  readonly #standInParts = new OpenParts();
  readonly #closed = new AbortController();
  #membership: MemberThread | undefined;
  /** The engine of this instance while it leads. */
  #engine: OpenedEngine | undefined;

  constructor(config: EngineConfig, parts: MemberParts) {
    this.#config = config;
    this.#parts = parts;
    const { clock, logger: log } = parts;
    this.#unreadable = new UnreadablePoints(config[''].dataDir, log);
    const relay = new UdpRelay({
      leader: () => this.#leader(),
      secret: () => this.#identity.secret,
      clock,
      waitMs: WAIT_LEASES * config.cluster.leaseMs,
      bindOf: (section) => {
        const [own] = (config.overridable.get(TSDB_SECTION.name) ?? []).filter(
          ({ name }) => name === section,
        );
        return own === undefined ? undefined : String(own['udp-bind'] ?? '');
      },
    });
    this.#relay = relay;
    this.#udp = new UdpInputs({ write: (body, target) => relay.write(body, target), log });
    this.#role = this.#makeRole();
  }

  /** Resolves with the URL when a leader serves, or when there is none for now. */
  async open(): Promise<string> {
    const { clock, build } = this.#parts;
    const { leaseMs, name } = this.#config.cluster;
    const role = this.#role;
    const { id, identity } = await role.open();
    this.#identity = identity;
    const { host, port } = listenAddress(this.#config.http.bindAddress);
    this.#hosts = this.#makeHosts();
    this.#standIn = await this.#openStandIn();
    this.#proxy = this.#makeProxy();
    this.#url = await this.#proxy.listen(host, port);
    this.#membership = new MemberThread({
      coordinator: coordinatorOf(this.#config),
      clock,
      leaseMs,
      self: {
        id,
        url: this.#config.cluster.url || this.#url,
        hostname: this.#config[''].hostname,
        pid: process.pid,
        version: build.version,
        level: levelOf(build),
      },
      report: () => ({ replica: role.sequence, problem: role.problem }),
      events: {
        elected: () => role.elected(),
        drained: () => role.drained(),
        lost: (reason) => role.lost(reason),
        looked: () => this.#proxy?.leaderChanged(),
        log: (level, message, fields) => this.#parts.logger(level, message, { ...fields, name }),
      },
    });
    await this.#membership.start();
    role.start(this.#membership);
    await this.#whenServed(WAIT_LEASES * leaseMs);
    return this.#url;
  }

  async reload(): Promise<void> {
    await this.#engine?.reload();
  }

  abandon(): void {
    this.#role.lost('the process has failed');
  }

  /** Ends its work, and lets another instance lead at once. */
  async close(): Promise<void> {
    this.#membership?.drain();
    await this.#udp.close();
    await this.#hosts?.leave(this.#config.http.shutdownTimeoutMs);
    await this.#role.stop();
    await this.#membership?.close().catch((error: unknown) => this.#warn('failed to leave', error));
    await this.#hosts?.close();
    await this.#proxy?.close();
    this.#closed.abort(new Unavailable('the instance stops'));
    await this.#standInParts.close();
    await this.#role.close();
    await this.#unreadable.close();
  }

  #makeRole(): InstanceRole {
    const { coordinator, clock, build, logger, environment = {} } = this.#parts;
    const { dataDir: directory, secretsKey: setting } = this.#config[''];
    return new InstanceRole({
      coordinator,
      clock,
      logger,
      build,
      cluster: this.#config.cluster.name,
      directory,
      key: { setting, environment },
      openLeader: (term, parts) => this.#openEngine(term, parts),
      ended: () => {
        this.#engine = undefined;
        return this.#proxy?.written(this.#config.cluster.leaseMs);
      },
    });
  }

  async #openEngine({ metadata, log, signal, role }: Term, parts: OpenParts): Promise<void> {
    const { clock, logger, openEngine, build } = this.#parts;
    const membership = this.#membership;
    assert(membership !== undefined, 'leaders are members');
    await this.#hosts?.lead(membership.leader?.term ?? 0);
    const { clusterId, secret } = this.#identity;
    const points = this.#pointLog(signal);
    await points.begin();
    role.throwIfAborted();
    const instances = { self: membership.id, secret, members: () => membership.members };
    this.#engine = await openEngine(
      this.#config,
      {
        ...this.#parts,
        proxy: { url: this.#url, secret },
        shared: {
          metadata,
          points,
          clusterId,
          mayAct: () => membership.isLeading && !signal.aborted,
          role,
          members: () => membership.members,
          changesEnd: () => log.last,
          udp: (token, log) => new UdpExchange({ ...instances, token, log }),
          recordings: new RecordingExchange(instances),
          coordinatorProblem: () => membership.problem,
          drain: (id) => membership.requestDrain(id),
          forget: (id) => membership.forget(id),
          self: membership.id,
          openRemoteHosts: (pool, server) =>
            RemoteHosts.open({
              pool,
              server,
              secret,
              points,
              clock,
              logger,
              term: membership.leader?.term ?? 0,
              version: build.version,
              leaseMs: this.#config.cluster.leaseMs,
              self: membership.id,
              members: () => membership.members,
            }),
        },
      },
      parts,
    );
  }

  #pointLog(signal: AbortSignal, patienceMs?: number): PointLog {
    const { coordinator, clock, logger, build } = this.#parts;
    return new PointLog({
      log: coordinator.points,
      clock,
      logger,
      build,
      level: () => this.#membership?.level ?? 1,
      unreadable: this.#unreadable,
      isLeading: () => this.#membership?.isLeading === true,
      signal,
      patienceMs,
    });
  }

  #openStandIn(): Promise<InThisProcess> {
    const { environment = {}, skipConfigOverrides, defaultTsdbUrl } = this.#parts;
    const waitMs = WAIT_LEASES * this.#config.cluster.leaseMs;
    return openStandIn(
      {
        ...this.#parts,
        config: withDefaultCluster(this.#config, defaultTsdbUrl),
        environment,
        skipsOverrides: skipConfigOverrides === true,
        ownDatabase: ownDatabaseOf(this.#parts),
        points: this.#pointLog(this.#closed.signal, waitMs),
        secret: this.#identity.secret,
        copy: () => this.#role.copy,
      },
      this.#standInParts,
    );
  }

  /** This instance, for requests that it can accept instead of a leader. */
  #standInFor({ method, url = '' }: IncomingMessage): InThisProcess | undefined {
    const isWrite = method === 'POST' && isWritePath(url, this.#config.http.compatPaths);
    // Acknowledged writes must be in the log that the next leader reads.
    const isOfLog = this.#role.isFilled && this.#role.problem === undefined;
    return isWrite && isOfLog ? this.#standIn : undefined;
  }

  #makeHosts(): HostServer {
    const { clock, logger, coordinator, build } = this.#parts;
    return new HostServer({
      hostCount: hostCountOf(this.#config),
      memoryMiB: this.#config.task.hostMemory,
      functions: functionConfigs(this.#config),
      secret: this.#identity.secret,
      build,
      points: coordinator.points,
      clock,
      leaseMs: this.#config.cluster.leaseMs,
      logger,
    });
  }

  #makeProxy(): LeaderProxy {
    const { clock } = this.#parts;
    const { secret } = this.#identity;
    const directory = recordingsDirectory(this.#config);
    return new LeaderProxy({
      own: async (request, response) =>
        answerLive(request, response) ||
        (await answerRecordingFile(request, response, { directory, secret })) ||
        this.#relay.answer(request, response, this.#udp),
      border: borderOf(this.#config, this.#identity.secret),
      clock,
      hasCompatiblePaths: this.#config.http.compatPaths,
      secret: this.#identity.secret,
      leader: () => this.#leader(),
      requestTimeoutMs: this.#config.http.requestTimeoutMs,
      problem: () => this.#role.problem,
      connect: (request, socket, head) => {
        if (this.#hosts === undefined) socket.destroy();
        else this.#hosts.connect(request, socket, head);
      },
      standIn: (request) => this.#standInFor(request),
      silenceMs: SILENCE_LEASES * this.#config.cluster.leaseMs,
      waitMs: WAIT_LEASES * this.#config.cluster.leaseMs,
      tls: tlsOf(this.#config),
    });
  }

  /** The leading engine: that of this instance, or another instance. */
  #leader(): OpenedEngine | { readonly url: string } | undefined {
    if (this.#engine !== undefined && this.#membership?.isLeading === true) return this.#engine;
    const leader = this.#membership?.leader;
    if (leader === undefined || !leader.isServing || leader.id === '') return undefined;
    // An entry from before this instance was deposed.
    if (leader.url === (this.#config.cluster.url || this.#url)) return undefined;
    return { url: leader.url };
  }

  async #whenServed(deadlineMs: number): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonicMs() + deadlineMs;
    while (this.#leader() === undefined && clock.monotonicMs() < untilMs) await clock.sleep(20);
  }

  #warn(message: string, error: unknown): void {
    this.#parts.logger('error', message, { err: messageOf(error) });
  }
}
