// Who is there, and who leads. Every instance renews an entry of its own; one of them renews the
// entry of the leader, too, which is changed against its revision only. No clocks are compared:
// others take an entry for dead when it has not changed for as long as its lease by their own
// monotonic clock, which begins later than the holder's own, who counts from before its renewal.
import { InvalidRequest, messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Coordinator } from './coordinator.ts';
import { FIRST_LEVEL, LEADER, readLeader, vacant } from './leader-entry.ts';
import type { LeaderRecord } from './leader-entry.ts';

/** What an instance says of itself. */
export type MemberRecord = {
  readonly id: string;
  /** Where others reach its API. */
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  /** Records up to this level are known to it (`packages/engine/src/cluster/build.ts`). */
  readonly level: number;
  /** It leaves soon: it does not lead any more. */
  readonly isDraining: boolean;
} & MemberReport;

/** What an instance says anew whenever it gives a sign of life. */
export type MemberReport = {
  /** Number of the last record of the shared log that is in its copy. */
  readonly replica: number;
  /** Why it can not lead at present; absent when it can. */
  readonly problem?: string | undefined;
};

export type Member = MemberRecord & {
  /** It has renewed its entry within its lease. */
  readonly isAlive: boolean;
  readonly isLeader: boolean;
};

export type MembershipEvents = {
  /** This instance leads from now on, until `lost`. */
  readonly elected: (term: number) => void;
  /** It does not lead any more; its lease has ended, or somebody else leads. */
  readonly lost: (reason: string) => void;
  /** This instance leads and was asked to let another one lead. */
  readonly drained: () => void;
  /** What is known of the members, or of the coordinator, may have changed. */
  readonly looked: () => void;
  readonly log: (
    level: 'info' | 'warn',
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ) => void;
};

export type MembershipOptions = {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly self: Omit<MemberRecord, 'isDraining' | keyof MemberReport>;
  /** `undefined` while whom this speaks for does not answer: then no sign of life is given. */
  readonly report: () => MemberReport | undefined;
  /**
   * Told of the end of the lease of this instance as leader, by `clock`; 0 when it does not lead.
   */
  readonly leased: (untilMs: number) => void;
  readonly events: MembershipEvents;
};

/** What members say that are older than the rest of what they could say. */
const OLDEST = { level: FIRST_LEVEL, replica: 0 };

const MEMBERS = 'member';
export const DRAIN = 'drain';

/** As the value of `DRAIN`: only once. The instance may lead again. */
export const RESIGN = 'once';

/** So many renewals within a lease. */
const RENEWALS = 4;

/** So many leases all instances have to know a level before it is written. */
const RAISE_LEASES = 5;

type Seen = { readonly revision: number; readonly sinceMs: number };

export class Membership {
  readonly #options: MembershipOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #stopped = new AbortController();
  #members: readonly Member[] = [];
  #leader: LeaderRecord | undefined;
  #leaderRevision = 0;
  /** Of this instance, by its monotonic clock; 0 when it does not lead. */
  #leaseUntilMs = 0;
  #term = 0;
  #isServing = false;
  /** Since when all that are there have known a higher level than is written. */
  #raisedMs: number | undefined;
  #isDraining = false;
  #problem: string | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /**
   * Joins; resolves when this instance is a member and knows who leads, if anybody does. Throws
   * `InvalidRequest` when the cluster has gone on to a level that this instance does not know.
   */
  async start(): Promise<void> {
    const { coordinator, self } = this.#options;
    const leader = await readLeader(coordinator.register);
    if ((leader?.record.level ?? 0) > self.level)
      throw new InvalidRequest(
        `this instance is too old for the cluster: it knows records up to level ${self.level}, and the cluster writes level ${leader?.record.level}. Install the version of the other instances`,
      );
    await coordinator.register.remove(`${DRAIN}.${self.id}`);
    await this.#round();
    this.#running = this.#run();
  }

  get id(): string {
    return this.#options.self.id;
  }

  /** All that are known, this one included, by id. */
  get members(): readonly Member[] {
    return this.#members;
  }

  get leader(): LeaderRecord | undefined {
    return this.#leader;
  }

  /** Whether this instance leads at this moment: what it does in the name of all must ask first. */
  get isLeading(): boolean {
    return this.#term > 0 && this.#options.clock.monotonicMs() < this.#leaseUntilMs;
  }

  /** What may be written: the instances that are there know it, and so do those that come back. */
  get level(): number {
    return this.#leader?.level ?? FIRST_LEVEL;
  }

  /** Why the coordinator could not be asked the last time. */
  get problem(): string | undefined {
    return this.#problem;
  }

  #lease(untilMs: number): void {
    this.#leaseUntilMs = untilMs;
    this.#options.leased(untilMs);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Tells the others that this instance serves as the leader. */
  async serve(): Promise<void> {
    this.#isServing = true;
    if (this.isLeading) await this.#renew();
  }

  /** Does not lead any more and lets another one lead at once. What it led has ended. */
  async abdicate(): Promise<void> {
    const term = this.#term;
    this.#term = 0;
    this.#lease(0);
    this.#isServing = false;
    if (term === 0) return;
    await this.#renewing;
    const { url, id } = this.#options.self;
    const left = vacant({ id, url, term, isServing: false, level: this.level });
    const { register } = this.#options.coordinator;
    await register.change(LEADER, JSON.stringify(left), this.#leaderRevision);
  }

  /** Asks an instance not to lead until it is started again. */
  async requestDrain(id: string): Promise<void> {
    await this.#options.coordinator.register.put(`${DRAIN}.${id}`, '');
  }

  /** Drops an instance that is gone for good. One that is not joins again by itself. */
  async forget(id: string): Promise<void> {
    await this.#options.coordinator.register.remove(`${MEMBERS}.${id}`);
    this.#members = this.#members.filter((member) => member.id !== id);
  }

  /** This instance is about to leave: it does not stand for election any more. */
  drain(): void {
    this.#isDraining = true;
  }

  /**
   * Leaves. Rejects when the coordinator can not be told; others notice at the end of the lease.
   */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await this.abdicate();
    await this.#options.coordinator.register.remove(`${MEMBERS}.${this.#options.self.id}`);
  }

  /** The lease of the leader does not wait for what else is said and asked. */
  async #run(): Promise<void> {
    await Promise.all([this.#repeat(() => this.#renew()), this.#repeat(() => this.#round())]);
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // Ends with the signal, which is what it is for.
      await clock.sleep(leaseMs / RENEWALS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const done = work().then(
        () => this.#recovered(),
        (error: unknown) => this.#failed(error),
      );
      // The end of the lease does not wait for an answer.
      await this.#within(done);
    }
  }

  /** Waits for a round, and meanwhile for the end of the lease. */
  async #within(round: Promise<void>): Promise<void> {
    const ended = new AbortController();
    void this.#expire(ended.signal); // Never rejects.
    await round;
    ended.abort();
    this.#checkLease();
    this.#options.events.looked();
  }

  /** Gives up the lead at the end of the lease, until the signal ends it. */
  async #expire(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // A timer may fire before its time.
    while (this.isLeading && !signal.aborted)
      await clock
        .sleep(this.#leaseUntilMs - clock.monotonicMs() + 1, signal)
        .catch(() => undefined);
    if (!signal.aborted) this.#checkLease();
  }

  #checkLease(): void {
    if (this.#term > 0 && !this.isLeading) this.#lose('its lease has ended');
  }

  #recovered(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#options.events.log('info', 'the coordinator answers again', {});
  }

  #failed(error: unknown): void {
    const isNew = this.#problem === undefined;
    this.#problem = messageOf(error);
    if (isNew)
      this.#options.events.log('warn', 'the coordinator does not answer', { err: this.#problem });
  }

  async #round(): Promise<void> {
    const { coordinator, self, events, report } = this.#options;
    const { register } = coordinator;
    const reported = report();
    if (reported === undefined) return;
    const record: MemberRecord = { ...self, ...reported, isDraining: this.#isDraining };
    await register.put(`${MEMBERS}.${self.id}`, JSON.stringify(record));
    const asked = await register.get(`${DRAIN}.${self.id}`);
    if (asked !== undefined && asked.text !== RESIGN) this.drain();
    if (this.#term > 0) {
      // Again in every round, until it has resigned.
      if (asked !== undefined) events.drained();
    } else {
      if (asked?.text === RESIGN) await register.remove(`${DRAIN}.${self.id}`);
      await this.#challenge();
    }
    await this.#list();
  }

  /** One renewal at a time: each is made against the revision of the one before. */
  #renew(): Promise<void> {
    const renewing = this.#renewing.then(() => this.#renewNow());
    this.#renewing = renewing.catch(() => undefined);
    return renewing;
  }

  async #renewNow(): Promise<void> {
    const { coordinator, clock, leaseMs, report } = this.#options;
    if (this.#term === 0 || report() === undefined) return;
    const record = this.#ownRecord(this.#term);
    const sentMs = clock.monotonicMs();
    const revision = await coordinator.register.change(
      LEADER,
      JSON.stringify(record),
      this.#leaderRevision,
    );
    if (revision === undefined) return this.#adopt(record);
    this.#leaderRevision = Math.max(this.#leaderRevision, revision);
    if (this.#term !== record.term) return;
    this.#leader = record;
    this.#lease(Math.max(this.#leaseUntilMs, sentMs + leaseMs));
  }

  /** An earlier renewal may have come through without its answer; the next one is made after it. */
  async #adopt({ id, term }: LeaderRecord): Promise<void> {
    const entry = await readLeader(this.#options.coordinator.register);
    const there = entry?.record;
    if (entry !== undefined && there?.id === id && there.term === term)
      this.#leaderRevision = entry.revision;
    else this.#lose('another instance leads');
  }

  /** Looks who leads, and leads when nobody does. */
  async #challenge(): Promise<void> {
    const { coordinator, clock, leaseMs, events, report } = this.#options;
    const { register } = coordinator;
    const entry = await readLeader(coordinator.register);
    const found = entry?.record;
    this.#leader = found;
    const { id, url, level } = this.#options.self;
    const isUnfit = this.#isDraining || this.level > level || report()?.problem !== undefined;
    const isVacant = found === undefined || found.id === '';
    // An entry of this very instance is one of before it was deposed; nobody else holds it.
    const isDead = !isVacant && found.id !== id && !this.#isFresh(LEADER, entry?.revision ?? 0);
    const isOwnOld = found?.id === id && !this.#isFresh(LEADER, entry?.revision ?? 0);
    if (isUnfit || !(isVacant || isDead || isOwnOld)) return;
    const term = (found?.term ?? 0) + 1;
    const record: LeaderRecord = { id, url, term, isServing: false, level: this.level };
    const sentMs = clock.monotonicMs();
    const revision = await register.change(LEADER, JSON.stringify(record), entry?.revision ?? 0);
    if (revision === undefined) return;
    this.#term = term;
    this.#isServing = false;
    this.#leader = record;
    this.#leaderRevision = revision;
    this.#lease(sentMs + leaseMs);
    if (this.isLeading) events.elected(term);
    else this.#term = 0;
  }

  /** Whether an entry has changed within its lease. */
  #isFresh(key: string, revision: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const seen = this.#seen.get(key);
    if (seen?.revision !== revision) {
      this.#seen.set(key, { revision, sinceMs: nowMs });
      return true;
    }
    return nowMs - seen.sinceMs <= this.#options.leaseMs;
  }

  async #list(): Promise<void> {
    const entries = await this.#options.coordinator.register.list(MEMBERS);
    this.#members = [...entries].map(([id, { text, revision }]) => ({
      ...OLDEST,
      ...(JSON.parse(text) as MemberRecord),
      isAlive: this.#isFresh(`${MEMBERS}.${id}`, revision),
      isLeader: this.#leader?.id === id,
    }));
  }

  #ownRecord(term: number): LeaderRecord {
    const { id, url } = this.#options.self;
    return { id, url, term, isServing: this.#isServing, level: this.#commonLevel() };
  }

  /**
   * Never falls, as what was written at a level is there. It rises when all have known more for a
   * while: one that is being restarted comes back as the version that it was.
   */
  #commonLevel(): number {
    const { clock, self, leaseMs } = this.#options;
    const levels = this.#members.map(({ level }) => level);
    const common = levels.length === 0 ? 0 : Math.min(self.level, ...levels);
    const nowMs = clock.monotonicMs();
    if (common <= this.level) this.#raisedMs = undefined;
    else this.#raisedMs ??= nowMs;
    const isSettled =
      this.#raisedMs !== undefined && nowMs - this.#raisedMs >= RAISE_LEASES * leaseMs;
    return isSettled ? common : this.level;
  }

  #lose(reason: string): void {
    if (this.#term === 0) return;
    this.#term = 0;
    this.#lease(0);
    this.#isServing = false;
    this.#options.events.lost(reason);
  }
}
