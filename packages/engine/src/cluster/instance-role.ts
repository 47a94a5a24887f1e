// The role of an instance in the shared log. It follows the log, and leads after it was elected,
// until its lease expires, another instance leads, or it stops. It owns the copy.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, InvalidRequest, messageOf, openAll, Unavailable } from '@tidemark/core';
import type { Clock, OpenParts } from '@tidemark/core';
import { Superseded } from '@tidemark/cluster';
import type { Coordinator, MemberThread } from '@tidemark/cluster';
import { PRIVATE_FILE } from '@tidemark/process';
import type { Logger } from '../observability/log-hub.ts';
import { METADATA_FILE } from '../store/metadata-file.ts';
import type { KeyOptions, Metadata } from '../store/metadata.ts';
import { unusedName } from '../store/store-repair.ts';
import { Ticker } from '../ticker.ts';
import type { Build } from '../shared-log/build.ts';
import { requireKey, restoreIdentity, shareIdentity } from './identity.ts';
import type { Identity } from './identity.ts';
import { LeaderLog } from './leader-log.ts';
import { isStuck, HistoryMismatch, ownDefinitions, Replica } from './replica.ts';

/** The membership, as the role uses it. */
export type RoleMembership = Pick<
  MemberThread,
  'id' | 'isLeading' | 'leader' | 'level' | 'members' | 'problem' | 'serve' | 'retire' | 'abdicate'
>;

/** The term of this instance as leader. */
export type Term = {
  readonly metadata: Metadata;
  readonly log: LeaderLog;
  /** Aborted with the term; after an orderly end, once the final changes are stored. */
  readonly signal: AbortSignal;
  /** Aborted when the instance stops leading. */
  readonly role: AbortSignal;
};

export type InstanceRoleOptions = {
  readonly coordinator: Pick<Coordinator, 'register' | 'changes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: Build;
  /** Name of the cluster. */
  readonly cluster: string;
  readonly directory: string;
  readonly key: KeyOptions;
  /** Opens the leader's parts. They are closed with `parts`. */
  readonly openLeader: (term: Term, parts: OpenParts) => Promise<void>;
  /**
   * The leader's parts must stop serving; they are closed when this resolves, or at once if the
   * term did not end in an orderly way.
   */
  readonly ended: () => Promise<void> | void;
};

/** How often the length of the shared log is checked. */
const COMPACT_CHECK_MS = 10_000;

/** Pause after a failure of the coordinator or of the store; long enough not to fill the log. */
const RETRY_MS = 500;

/** Pause before an instance that cannot follow tries again. */
const STUCK_RETRY_MS = 10_000;

/** Why a role ends. */
const CLOSING = new Error('the instance stops');
const DRAINED = new Error('the instance was asked to give up the lead');
const ELECTED = new Error('the instance leads from now on');

export class InstanceRole {
  readonly #options: InstanceRoleOptions;
  readonly #closing = new AbortController();
  #identity: Identity | undefined;
  #replica: Replica | undefined;
  /** Number of the last record of the shared log that is in the copy. */
  #sequence = 0;
  #problem: string | undefined;
  #membership: RoleMembership | undefined;
  /** Aborted with the present role: following, or leading. */
  #role = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: InstanceRoleOptions) {
    this.#options = options;
  }

  /**
   * Opens the copy. Throws `InvalidRequest` when this directory, or its key, does not belong to
   * this cluster; other reasons not to follow are a `problem`.
   */
  async open(): Promise<{ readonly id: string; readonly identity: Identity }> {
    const { coordinator, cluster } = this.#options;
    const replica = await this.#openReplica();
    const { metadata, isOwn: hasOwn } = replica;
    const identity = await shareIdentity(coordinator.register, metadata, { cluster, hasOwn });
    this.#identity = identity;
    await this.#check(replica, identity);
    return { id: metadata.serverId, identity };
  }

  /** From now on it follows, and leads when it is elected. */
  start(membership: RoleMembership): void {
    this.#membership = membership;
    this.#running = this.#run();
  }

  /** Number of the last record of the shared log that is in the copy. */
  get sequence(): number {
    const sequence = this.#replica?.sequence;
    if (sequence === undefined) return this.#sequence;
    // A copy that cannot follow is opened again and again.
    return this.#problem === undefined ? sequence : Math.max(sequence, this.#sequence);
  }

  /** Whether the copy has the contents of the cluster's log. */
  get isFilled(): boolean {
    return this.#replica?.isFilled === true;
  }

  /** The copy; `undefined` while it is not open. */
  get copy(): Metadata | undefined {
    return this.#replica?.metadata;
  }

  /** Why this instance cannot follow, and so cannot lead; `undefined` when it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  elected(): void {
    // The previous role may already have ended for another reason.
    if (this.#role.signal.aborted) this.#role = new AbortController();
    this.#role.abort(ELECTED);
  }

  drained(): void {
    this.#role.abort(DRAINED);
  }

  lost(reason: string): void {
    this.#role.abort(new Error(reason));
  }

  /** Ends the present role. */
  async stop(): Promise<void> {
    this.#closing.abort(CLOSING);
    this.#role.abort(CLOSING);
    await this.#running;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#replica?.close();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const role = this.#role;
      try {
        if (role.signal.reason === ELECTED) await this.#lead();
        else if (role.signal.aborted) this.#role = new AbortController();
        else await this.#follow(role.signal);
      } catch (error) {
        // The instance was stopped while it began to lead.
        if (error === CLOSING) return;
        this.#warn('failed to follow or to lead', error);
        this.#problem = isStuck(error) ? error.message : undefined;
        await this.#dropReplica();
        const waitMs = isStuck(error) ? STUCK_RETRY_MS : RETRY_MS;
        await clock.sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** Applies the leader's changes until the signal is aborted. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { changes } = this.#options.coordinator;
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
    const { logger, ended, clock } = this.#options;
    const term = membership.leader?.term;
    const electedMs = clock.monotonicMs();
    logger('info', 'this instance was elected', { term });
    try {
      await openAll(
        async (parts) => {
          await this.#openLeader(membership, role, parts);
          await membership.serve();
          const tookMs = Math.round(clock.monotonicMs() - electedMs);
          logger('info', 'this instance leads', { term, tookMs });
          await aborted(role.signal);
          const served = ended();
          const reason = messageOf(role.signal.reason);
          logger('info', 'this instance leads no more', { term, reason });
          const endedMs = clock.monotonicMs();
          if (isPeaceful(role.signal)) {
            // The others accept writes from now on, without asking this busy instance first.
            const retired = membership.retire();
            await served;
            await retired.catch((error: unknown) => this.#warn('failed to retire', error));
          }
          await parts.close();
          const closedMs = Math.round(clock.monotonicMs() - endedMs);
          logger('info', 'what this instance has led is closed', { term, tookMs: closedMs });
        },
        (error) => this.#warn('a part could not be closed', error),
      );
    } finally {
      void ended(); // Nothing waits for it any more.
      await membership.abdicate();
    }
  }

  async #openLeader(
    membership: RoleMembership,
    role: AbortController,
    parts: OpenParts,
  ): Promise<void> {
    const { clock, logger, openLeader } = this.#options;
    const term = new AbortController();
    role.signal.addEventListener('abort', () => {
      // Changes at the end of a term that ends in an orderly way still belong to it.
      if (!isPeaceful(role.signal)) term.abort(role.signal.reason);
    });
    const replica = this.#replica ?? (await this.#openReplica());
    const log = await this.#takeOver(replica, { membership, role, term: term.signal });
    parts.add(() => log.settled());
    const compacting = new Ticker(clock, COMPACT_CHECK_MS, () => log.compact(logger));
    parts.add(() => compacting.close());
    const metadata = replica.metadata.through(log);
    await openLeader({ metadata, log, signal: term.signal, role: role.signal }, parts);
  }

  /** Applies the log to its end and begins a term there. */
  async #takeOver(
    replica: Replica,
    of: {
      readonly membership: RoleMembership;
      readonly role: AbortController;
      readonly term: AbortSignal;
    },
  ): Promise<LeaderLog> {
    const { coordinator, build, logger } = this.#options;
    const { membership, role, term: signal } = of;
    const { changes: log } = coordinator;
    const onLost = (reason: Error): void => role.abort(reason);
    for (;;) {
      const last = await replica.applyToEnd(log, await this.#logId(replica), role.signal);
      role.signal.throwIfAborted();
      this.#checkBegin(replica, membership, last);
      try {
        const options = { log, replica, membership, build, signal, onLost };
        return await LeaderLog.begin(options, last, logger);
      } catch (error) {
        // The previous leader has stored something meanwhile, because its lease ended later.
        if (!(error instanceof Superseded)) throw error;
        role.signal.throwIfAborted();
      }
    }
  }

  /**
   * Reports at once what would keep this instance from following. Throws `InvalidRequest` when it
   * must not be an instance of this cluster at all.
   */
  async #check(replica: Replica, { log, begins }: Identity): Promise<void> {
    const { coordinator, cluster } = this.#options;
    try {
      if (!replica.isOwn) return await replica.prepare(coordinator.changes, log);
      await replica.applyToEnd(coordinator.changes, log, this.#closing.signal);
    } catch (error) {
      if (!isStuck(error)) throw error;
      this.#problem = error.message;
    }
    if (replica.isOwn && begins !== undefined && begins !== replica.metadata.serverId)
      throw new InvalidRequest(ownDefinitions(cluster));
  }

  /**
   * Names the log at the coordinator. Throws `HistoryMismatch` if the coordinator has lost the log
   * of the copy.
   */
  async #logId(replica: Replica): Promise<string> {
    const { coordinator, cluster } = this.#options;
    const identity =
      (await requireKey(coordinator.register, replica.metadata, cluster)) ??
      (await this.#restoreIdentity(replica));
    if (identity === undefined)
      throw new HistoryMismatch(
        'the coordinator has no data of this cluster: it may have lost its disk',
      );
    return identity.log;
  }

  /**
   * Stores the identity again if the coordinator has kept the log of the copy and lost the
   * identity, as servers of NATS 2.9 may that were all killed at once: an old value of their
   * register.
   */
  async #restoreIdentity(replica: Replica): Promise<Identity | undefined> {
    const { coordinator, cluster, logger } = this.#options;
    const identity = this.#identity;
    if (identity === undefined || !(await replica.isIn(coordinator.changes, identity.log)))
      return undefined;
    logger('warn', 'the coordinator has lost the identity of the cluster: it is stored again', {});
    return restoreIdentity(coordinator.register, replica.metadata, { cluster, identity });
  }

  /**
   * Throws `HistoryMismatch` when the log must not continue, or begin, with the copy of this
   * instance.
   */
  #checkBegin(replica: Replica, { members, id }: RoleMembership, last: number): void {
    const { begins } = this.#identity ?? {};
    if (!replica.isFilled && begins !== undefined && begins !== replica.metadata.serverId)
      throw new HistoryMismatch(
        `the cluster begins with the definitions of instance ${begins}, which has not written them yet: start that instance`,
      );
    const ahead = members.find(
      (member) => member.id !== id && member.isAlive && member.replica > last,
    );
    if (ahead !== undefined)
      throw new HistoryMismatch(
        `the copy of instance ${ahead.id} has come to record ${ahead.replica}, and the log ends with ${last}: the coordinator has lost records`,
      );
  }

  async #openReplica(): Promise<Replica> {
    const { directory, cluster, key, build } = this.#options;
    const setAside = (metadata: Metadata): Promise<void> => this.#setAside(metadata);
    const begins = (): string | undefined => this.#identity?.begins;
    this.#replica = await Replica.open({ directory, cluster, key, build, setAside, begins });
    return this.#replica;
  }

  /** Keeps stored contents that are not in the log. */
  async #setAside(metadata: Metadata): Promise<void> {
    const path = unusedName(join(this.#options.directory, `${METADATA_FILE}.set-aside`));
    writeFileSync(path, await metadata.backup(), { mode: PRIVATE_FILE, flush: true });
    const what = 'the data stored here may differ from the log: a copy is kept';
    this.#options.logger('warn', what, { path });
  }

  async #dropReplica(): Promise<void> {
    const replica = this.#replica;
    this.#sequence = replica?.sequence ?? this.#sequence;
    this.#replica = undefined;
    await replica?.close();
  }

  #warn(message: string, error: unknown): void {
    this.#options.logger('error', message, { err: messageOf(error) });
  }
}

function isPeaceful({ reason }: AbortSignal): boolean {
  return reason === CLOSING || reason === DRAINED;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
