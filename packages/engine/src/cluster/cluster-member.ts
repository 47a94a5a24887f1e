// An instance of a cluster: it listens, follows what the leader stores, and leads itself when it is
// its turn: then the engine is opened on its copy, as after a restart
// (docs/adr/0020-engine-cluster.md).
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  assert,
  InvalidRequest,
  messageOf,
  openAll,
  systemClock,
  Unavailable,
} from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import { Coordinator, MemberThread, Superseded } from '@tidemark/cluster';
import type { CoordinatorOptions } from '@tidemark/cluster';
import { PRIVATE_FILE } from '@tidemark/process';
import { hostCountOf } from '../config/config.ts';
import type { EngineConfig } from '../config/config.ts';
import { listenAddress } from '../exposure.ts';
import { borderOf, tlsOf } from '../http/open-server.ts';
import { recordingsDirectory } from '../jobs/open-jobs.ts';
import { LogHub } from '../observability/log-hub.ts';
import type { LogLevel, Logger } from '../observability/log-hub.ts';
import type { Shared } from '../open-stores.ts';
import type { RestoreControl } from '../restartable.ts';
import type { EngineService, StartEngineOptions } from '../start-engine.ts';
import type { KeyOptions, Metadata } from '../store/metadata.ts';
import { METADATA_FILE } from '../store/metadata-file.ts';
import { unusedName } from '../store/store-repair.ts';
import { functionConfigs } from '../services/user-functions.ts';
import { TSDB_SECTION } from '../database/cluster-section.ts';
import { UdpInputs } from '../ingest/udp-inputs.ts';
import { Ticker } from '../ticker.ts';
import { levelOf, THIS_BUILD } from './build.ts';
import type { Build } from './build.ts';
import { Front } from './front.ts';
import type { Target } from './front.ts';
import { requireKey, shareIdentity } from './identity.ts';
import type { Identity } from './identity.ts';
import { LeaderLog } from './leader-log.ts';
import { HostServer } from './host-server.ts';
import { PointLog } from './point-log.ts';
import { answerRecordingFile, RecordingExchange } from './recording-exchange.ts';
import { RemoteHosts } from './remote-hosts.ts';
import { isStuck, OtherHistory, ownDefinitions, Replica } from './replica.ts';
import { UdpExchange, UdpRelay } from './udp-exchange.ts';

export type OpenEngineOptions = StartEngineOptions & {
  readonly shared?: Shared | undefined;
  /** Who passes requests on. */
  readonly front?: { readonly url: string; readonly secret: string } | undefined;
  /** Absent where it can not go on with the metadata of a backup. */
  readonly restoring?: RestoreControl | undefined;
};

type OpenEngine = (
  config: EngineConfig,
  options: OpenEngineOptions,
  parts: OpenParts,
) => Promise<EngineService>;

export type ClusterMemberOptions = StartEngineOptions & { readonly openEngine: OpenEngine };

/** How often it is looked whether the shared log has become too long. */
const COMPACT_CHECK_MS = 10_000;

/** How long requests wait for the next leader, in leases. */
const WAIT_LEASES = 3;

/** After a failure of the coordinator or of the store; not so often that it fills the log. */
const RETRY_MS = 500;

/** Until an instance that cannot follow looks whether that has changed. */
const STUCK_RETRY_MS = 10_000;

/** Joins the cluster. What is open is closed with `parts`. */
export async function openClusterMember(
  config: EngineConfig,
  options: ClusterMemberOptions,
  parts: OpenParts,
): Promise<EngineService> {
  const clock = options.clock ?? systemClock();
  const level = config.logging.level.toLowerCase() as LogLevel | 'off';
  const logs = new LogHub(options.log, clock, level, (text) => text);
  parts.add(() => logs.close());
  const coordinator = await Coordinator.open(coordinatorOf(config));
  parts.add(() => coordinator.close());
  const member = new ClusterMember(config, {
    ...options,
    clock,
    coordinator,
    build: options.build ?? THIS_BUILD,
    logger: logs.logger('cluster'),
  });
  parts.add(() => member.close());
  const url = await member.open();
  return { url, reload: () => member.reload(), close: () => parts.close() };
}

function coordinatorOf({ cluster }: EngineConfig): CoordinatorOptions {
  const { coordinator: urls, login, name, replicas } = cluster;
  return { urls, login, name, replicas };
}

type MemberParts = ClusterMemberOptions & {
  readonly clock: Clock;
  readonly coordinator: Coordinator;
  readonly build: Build;
  readonly logger: Logger;
};

/** Why a role ends. */
const CLOSING = new Error('the instance stops');
const DRAINED = new Error('the instance was asked to let another one lead');
const ELECTED = new Error('the instance leads from now on');

class ClusterMember {
  readonly #config: EngineConfig;
  readonly #parts: MemberParts;
  readonly #closing = new AbortController();
  #identity: Identity = { clusterId: '', secret: '', keyCheck: '', log: '' };
  #replica: Replica | undefined;
  /** Number of the last record of the shared log that is in the copy. */
  #sequence = 0;
  /** Why this instance can not follow, and so not lead. */
  #problem: string | undefined;
  #front: Front | undefined;
  /** What it runs for the leader, when that is another one. */
  #hosts: HostServer | undefined;
  /** Where it listens for databases, whoever leads. */
  readonly #udp: UdpInputs;
  readonly #relay: UdpRelay;
  #url = '';
  #membership: MemberThread | undefined;
  /** Ends with what the instance does at present: following, or leading. */
  #role = new AbortController();
  /** Of this instance, while it leads. */
  #log: LeaderLog | undefined;
  #engine: EngineService | undefined;
  #running: Promise<void> | undefined;

  constructor(config: EngineConfig, parts: MemberParts) {
    this.#config = config;
    this.#parts = parts;
    const { clock, logger: log } = parts;
    const relay = new UdpRelay({
      leader: () => this.#target(),
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
  }

  /** Resolves with the URL when a leader serves, or none can be had for now. */
  async open(): Promise<string> {
    const { coordinator, clock, build } = this.#parts;
    const { leaseMs, name } = this.#config.cluster;
    const replica = await this.#openReplica();
    const { serverId } = replica.metadata;
    this.#identity = await shareIdentity(coordinator.register, replica.metadata, {
      cluster: name,
      hasOwn: replica.isOwn,
    });
    await this.#check(replica);
    const { host, port } = listenAddress(this.#config.http.bindAddress);
    this.#hosts = this.#makeHosts();
    this.#front = this.#makeFront();
    this.#url = await this.#front.listen(host, port);
    this.#membership = new MemberThread({
      coordinator: coordinatorOf(this.#config),
      clock,
      leaseMs,
      self: {
        id: serverId,
        url: this.#config.cluster.url || this.#url,
        hostname: this.#config[''].hostname,
        pid: process.pid,
        version: build.version,
        level: levelOf(build),
      },
      report: () => ({
        replica: this.#replica?.sequence ?? this.#log?.last ?? this.#sequence,
        problem: this.#problem,
      }),
      events: {
        elected: () => this.#role.abort(ELECTED),
        drained: () => this.#role.abort(DRAINED),
        lost: (reason) => this.#role.abort(new Error(reason)),
        looked: () => this.#front?.leaderChanged(),
        log: (level, message, fields) => this.#parts.logger(level, message, { ...fields, name }),
      },
    });
    await this.#membership.start();
    this.#running = this.#run();
    await this.#whenServed(WAIT_LEASES * leaseMs);
    return this.#url;
  }

  async reload(): Promise<void> {
    await this.#engine?.reload();
  }

  /** Ends what it does, and lets another instance lead at once. */
  async close(): Promise<void> {
    this.#membership?.drain();
    await this.#udp.close();
    await this.#hosts?.leave(this.#config.http.shutdownTimeoutMs);
    this.#closing.abort(CLOSING);
    this.#role.abort(CLOSING);
    await this.#running;
    await this.#membership?.close().catch((error: unknown) => this.#warn('failed to leave', error));
    await this.#hosts?.close();
    await this.#front?.close();
    await this.#replica?.close();
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const role = this.#role;
      try {
        if (role.signal.reason === ELECTED) await this.#lead();
        else if (role.signal.aborted) this.#role = new AbortController();
        else await this.#follow(role.signal);
      } catch (error) {
        // It was told to stop while it began to lead.
        if (error === CLOSING) return;
        this.#warn('failed to follow or to lead', error);
        this.#problem = isStuck(error) ? error.message : undefined;
        await this.#dropReplica();
        const waitMs = isStuck(error) ? STUCK_RETRY_MS : RETRY_MS;
        await clock.sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** Applies what the leader stores until the signal ends it. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { changes } = this.#parts.coordinator;
    const replica = this.#replica ?? (await this.#openReplica());
    await replica.prepare(changes, await this.#logId(replica));
    for await (const record of changes.read({ first: replica.sequence + 1, signal })) {
      await replica.apply(record);
      this.#problem = undefined;
    }
    if (!signal.aborted) throw new Unavailable('the shared log has ended');
  }

  /** Leads until the lease ends, another one leads, or the instance stops. */
  async #lead(): Promise<void> {
    const role = new AbortController();
    this.#role = role;
    const membership = this.#membership;
    assert(membership !== undefined, 'elections are of members');
    // The lease may have ended before this turn.
    if (this.#closing.signal.aborted || !membership.isLeading) return membership.abdicate();
    try {
      await this.#hosts?.lead(membership.leader?.term ?? 0);
      await openAll(
        async (parts) => {
          const engine = await this.#openEngine(membership, role, parts);
          this.#engine = engine;
          await membership.serve();
          this.#parts.logger('info', 'this instance leads', { term: membership.leader?.term });
          await ended(role.signal);
          this.#engine = undefined;
          this.#parts.logger('info', 'this instance leads no more', {
            reason: messageOf(role.signal.reason),
          });
          await parts.close();
        },
        (error) => this.#warn('a part could not be closed', error),
      );
    } finally {
      this.#engine = undefined;
      await membership.abdicate();
    }
  }

  async #openEngine(
    membership: MemberThread,
    role: AbortController,
    parts: OpenParts,
  ): Promise<EngineService> {
    const { clock, logger, openEngine, build } = this.#parts;
    const term = new AbortController();
    role.signal.addEventListener('abort', () => {
      // What is stored at the end of a term that ends in peace belongs to it.
      if (!isPeaceful(role.signal)) term.abort(role.signal.reason);
    });
    const log = await this.#takeOver(membership, { role, term: term.signal });
    const replica = this.#replica;
    assert(replica !== undefined, 'what is taken over is in the copy');
    const { metadata } = replica;
    replica.lead(log);
    parts.add(() => replica.follow());
    parts.add(() => log.settled());
    this.#log = log;
    parts.add(() => void (this.#log = undefined));
    const compacting = new Ticker(clock, COMPACT_CHECK_MS, () => log.compact(logger));
    parts.add(() => compacting.close());
    const { clusterId, secret } = this.#identity;
    const { points: pointsLog } = this.#parts.coordinator;
    const points = new PointLog({ log: pointsLog, clock, logger, build, signal: term.signal });
    await points.begin();
    role.signal.throwIfAborted();
    const instances = { self: membership.id, secret, members: () => membership.members };
    return openEngine(
      this.#config,
      {
        ...this.#parts,
        front: { url: this.#url, secret },
        shared: {
          metadata,
          points,
          clusterId,
          mayAct: () => membership.isLeading && !term.signal.aborted,
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

  /** Applies the log to its end and begins a term there. */
  async #takeOver(
    membership: MemberThread,
    { role, term }: { readonly role: AbortController; readonly term: AbortSignal },
  ): Promise<LeaderLog> {
    const { changes } = this.#parts.coordinator;
    const { signal } = role;
    const replica = this.#replica ?? (await this.#openReplica());
    for (;;) {
      const last = await replica.catchUp(changes, await this.#logId(replica), signal);
      signal.throwIfAborted();
      this.#checkBegin(replica, last);
      try {
        return await LeaderLog.begin(
          {
            log: changes,
            replica,
            membership,
            build: this.#parts.build,
            signal: term,
            onLost: (reason) => role.abort(reason),
          },
          last,
          this.#parts.logger,
        );
      } catch (error) {
        // The leader before has stored something meanwhile, as its lease has ended later.
        if (!(error instanceof Superseded)) throw error;
      }
    }
  }

  /**
   * Says at once what would keep this instance from following. Throws `InvalidRequest` when it may
   * not be an instance of this cluster at all.
   */
  async #check(replica: Replica): Promise<void> {
    const { changes } = this.#parts.coordinator;
    const { log, begins } = this.#identity;
    try {
      if (!replica.isOwn) return await replica.prepare(changes, log);
      await replica.catchUp(changes, log, this.#closing.signal);
    } catch (error) {
      if (!isStuck(error)) throw error;
      this.#problem = error.message;
    }
    if (replica.isOwn && begins !== undefined && begins !== replica.metadata.serverId)
      throw new InvalidRequest(ownDefinitions(this.#config.cluster.name));
  }

  /** Names the log at the coordinator. Throws `OtherHistory` when that knows nothing of one. */
  async #logId({ metadata }: Replica): Promise<string> {
    const { register } = this.#parts.coordinator;
    const identity = await requireKey(register, metadata, this.#config.cluster.name);
    if (identity === undefined)
      throw new OtherHistory(
        'the coordinator knows nothing of this cluster: it may have lost its disk',
      );
    return identity.log;
  }

  /**
   * Throws `OtherHistory` when the log must not go on, or begin, with the copy of this instance.
   */
  #checkBegin(replica: Replica, last: number): void {
    const { begins } = this.#identity;
    if (!replica.isFilled && begins !== undefined && begins !== replica.metadata.serverId)
      throw new OtherHistory(
        `the cluster begins with the definitions of instance ${begins}, which has not written them yet: start that instance`,
      );
    const { members = [], id } = this.#membership ?? {};
    const ahead = members.find(
      (member) => member.id !== id && member.isAlive && member.replica > last,
    );
    if (ahead !== undefined)
      throw new OtherHistory(
        `the copy of instance ${ahead.id} has come to record ${ahead.replica}, and the log ends with ${last}: the coordinator has lost records`,
      );
  }

  async #openReplica(): Promise<Replica> {
    const { dataDir: directory, secretsKey: setting } = this.#config[''];
    const { environment = {}, build } = this.#parts;
    const key: KeyOptions = { setting, environment };
    const { name: cluster } = this.#config.cluster;
    const setAside = (metadata: Metadata): Promise<void> => this.#setAside(directory, metadata);
    this.#replica = await Replica.open({ directory, cluster, key, build, setAside });
    return this.#replica;
  }

  /** Keeps what is stored here and is not of the log. */
  async #setAside(directory: string, metadata: Metadata): Promise<void> {
    const path = unusedName(join(directory, `${METADATA_FILE}.set-aside`));
    await writeFile(path, await metadata.backup(), { mode: PRIVATE_FILE, flush: true });
    this.#parts.logger('warn', 'what is stored here may differ from the log: a copy is kept', {
      path,
    });
  }

  async #dropReplica(): Promise<void> {
    const replica = this.#replica;
    this.#sequence = replica?.sequence ?? this.#sequence;
    this.#replica = undefined;
    await replica?.close();
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

  #makeFront(): Front {
    const { clock } = this.#parts;
    const tls = tlsOf(this.#config);
    const { secret } = this.#identity;
    const directory = recordingsDirectory(this.#config);
    return new Front({
      own: async (request, response) =>
        (await answerRecordingFile(request, response, { directory, secret })) ||
        this.#relay.answer(request, response, this.#udp),
      border: borderOf(this.#config, undefined, this.#identity.secret),
      clock,
      secret: this.#identity.secret,
      leader: () => this.#target(),
      problem: () => this.#problem,
      connect: (request, socket, head) => {
        if (this.#hosts === undefined) socket.destroy();
        else this.#hosts.connect(request, socket, head);
      },
      waitMs: WAIT_LEASES * this.#config.cluster.leaseMs,
      tls:
        tls === undefined
          ? undefined
          : {
              ...tls.options,
              cert: readFileSync(tls.certificateFile),
              key: readFileSync(tls.keyFile || tls.certificateFile),
            },
    });
  }

  /** Where the engine that leads answers. */
  #target(): Target | undefined {
    if (this.#engine !== undefined && this.#membership?.isLeading === true)
      return { url: this.#engine.url, isOwn: true };
    const leader = this.#membership?.leader;
    if (leader === undefined || !leader.isServing || leader.id === '') return undefined;
    // An entry of before this instance was deposed.
    if (leader.url === (this.#config.cluster.url || this.#url)) return undefined;
    return { url: leader.url, isOwn: false };
  }

  async #whenServed(deadlineMs: number): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonicMs() + deadlineMs;
    while (this.#target() === undefined && clock.monotonicMs() < untilMs) await clock.sleep(20);
  }

  #warn(message: string, error: unknown): void {
    this.#parts.logger('error', message, { err: messageOf(error) });
  }
}

function isPeaceful({ reason }: AbortSignal): boolean {
  return reason === CLOSING || reason === DRAINED;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
