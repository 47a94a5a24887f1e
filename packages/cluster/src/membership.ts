// Membership and leader election. Every instance renews its own entry in the register; the leader
// also renews the leader's entry, by compare-and-set. Clocks are not compared: an entry is dead
// when it has not changed for its lease by the observer's monotonic clock. The observer's count
// starts after the holder's, which starts before the renewal.
import { isDeepStrictEqual } from 'node:util';

import { InvalidRequest, messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Coordinator } from './coordinator.ts';
import { FIRST_LEVEL, LEADER, readLeader, vacant } from './leader-entry.ts';
import type { LeaderEntry, LeaderRecord } from './leader-entry.ts';
import { Liveness } from './liveness.ts';

/** The entry that an instance publishes about itself. */
export type MemberRecord = {
  readonly id: string;
  /** The URL of its API for the others. */
  readonly url: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  /** The highest format level that it supports (`packages/engine/src/shared-log/build.ts`). */
  readonly level: number;
  /** It is about to leave and does not lead any more. */
  readonly isDraining: boolean;
} & MemberReport;

/** The part of the entry that changes with renewals. */
export type MemberReport = {
  /** Number of the last record of the shared log in its copy. */
  readonly replica: number;
  /** Why it cannot lead now; absent if it can. */
  readonly problem?: string | undefined;
};

export type Member = MemberRecord & {
  /** Whether it has renewed its entry within its lease. */
  readonly isAlive: boolean;
  readonly isLeader: boolean;
};

export type MembershipEvents = {
  /** This instance leads from now on, until `lost`. */
  readonly elected: (term: number) => void;
  /** It does not lead any more: its lease has ended, or another instance leads. */
  readonly lost: (reason: string) => void;
  /** This instance leads and was asked to resign. */
  readonly drained: () => void;
  /** The members, or the state of the coordinator, may have changed. */
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
  /** `undefined` while the instance's own thread does not answer: then the entry is not renewed. */
  readonly report: () => MemberReport | undefined;
  /** Called with the end of this instance's lease as leader, by `clock`; 0 if it does not lead. */
  readonly leased: (untilMs: number) => void;
  readonly events: MembershipEvents;
};

/** Defaults for properties that older versions do not publish. */
const OLDEST = { level: FIRST_LEVEL, replica: 0 };

const MEMBERS = 'member';
export const DRAIN = 'drain';

/** A value of `DRAIN` that applies once; the instance may lead again afterwards. */
export const RESIGN = 'once';

/** Renewals per lease. */
const RENEWALS = 4;

/** Reads of the leader's entry per lease: a gap without a leader lasts until one is read. */
const LOOKS = 20;

/** All instances must support a level for this many leases before it is written. */
const RAISE_LEASES = 5;

export class Membership {
  readonly #options: MembershipOptions;
  readonly #leaders: Liveness;
  readonly #others: Liveness;
  readonly #stopped = new AbortController();
  #members: readonly Member[] = [];
  #leader: LeaderRecord | undefined;
  #leaderRevision = 0;
  /** End of this instance's lease as leader, by its monotonic clock; 0 if it does not lead. */
  #leaseUntilMs = 0;
  #term = 0;
  /** Whether the work of a leader is open on this instance, even after its term. */
  #isOpen = false;
  /** A process that is no instance wants to lead for a while (`between-leaders.ts`). */
  #isResigning = false;
  #isServing = false;
  /** The time from which on all members have supported a higher level than the one written. */
  #raisedMs: number | undefined;
  #isDraining = false;
  #problem: string | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    const { clock, leaseMs } = options;
    this.#leaders = new Liveness(clock, leaseMs);
    this.#others = new Liveness(clock, leaseMs);
  }

  /**
   * Joins the cluster. Resolves when this instance is a member and knows the leader, if there is
   * one. Throws `InvalidRequest` if the cluster writes a format level that this instance does not
   * support.
   */
  async start(): Promise<void> {
    const { coordinator, self } = this.#options;
    const leader = await readLeader(coordinator.register);
    if ((leader?.record.level ?? 0) > self.level)
      throw new InvalidRequest(
        `this instance is too old for the cluster: it knows records up to level ${self.level}, and the cluster writes level ${leader?.record.level}. Install the version of the other instances`,
      );
    await coordinator.register.remove(`${DRAIN}.${self.id}`);
    await this.#look();
    await this.#round();
    this.#running = this.#run();
  }

  get id(): string {
    return this.#options.self.id;
  }

  /** All known members by id, including this one. */
  get members(): readonly Member[] {
    return this.#members;
  }

  get leader(): LeaderRecord | undefined {
    return this.#leader;
  }

  /** Whether this instance leads at this moment; must be checked before every act as leader. */
  get isLeading(): boolean {
    return this.#term > 0 && this.#options.clock.monotonicMs() < this.#leaseUntilMs;
  }

  /**
   * The format level that may be written: all members support it, including those that may come
   * back.
   */
  get level(): number {
    return this.#leader?.level ?? FIRST_LEVEL;
  }

  /** Why the last request to the coordinator failed. */
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

  /**
   * Tells the others that this instance, which still leads, serves no more: it is about to resign.
   */
  async retire(): Promise<void> {
    this.#isServing = false;
    if (this.isLeading) await this.#renew();
  }

  /**
   * Resigns in favour of the instance whose copy is the most advanced, which leads at once. The
   * work as leader must have ended, however the term ended.
   */
  async abdicate(): Promise<void> {
    const term = this.#term;
    this.#term = 0;
    this.#lease(0);
    this.#isServing = false;
    try {
      if (term > 0) await this.#leave(term);
    } finally {
      // Until then the entry names this instance, which would take the leadership again.
      this.#isOpen = false;
    }
  }

  async #leave(term: number): Promise<void> {
    await this.#renewing;
    const { id = '', url = '' } = (this.#isResigning ? undefined : this.#successor()) ?? {};
    const left: LeaderRecord = { id, url, term, isServing: false, level: this.level };
    const { register } = this.#options.coordinator;
    await register.change(LEADER, JSON.stringify(left), this.#leaderRevision);
  }

  #successor(): Member | undefined {
    const { id: self } = this.#options.self;
    return this.#members
      .filter(({ id, isAlive, isDraining, problem, level }) => {
        const isFit = !isDraining && problem === undefined && level >= this.level;
        return id !== self && isAlive && isFit;
      })
      .toSorted((x, y) => y.replica - x.replica || x.url.localeCompare(y.url))[0];
  }

  /** Asks an instance not to lead until it is restarted. */
  async requestDrain(id: string): Promise<void> {
    await this.#options.coordinator.register.put(`${DRAIN}.${id}`, '');
  }

  /** Removes an instance that is gone for good. A live one joins again by itself. */
  async forget(id: string): Promise<void> {
    await this.#options.coordinator.register.remove(`${MEMBERS}.${id}`);
    this.#members = this.#members.filter((member) => member.id !== id);
  }

  /** This instance is about to leave and no longer stands for election. */
  drain(): void {
    this.#isDraining = true;
  }

  /**
   * Leaves the cluster. Rejects if the coordinator does not answer; others notice when the lease
   * ends.
   */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await this.abdicate();
    await this.#options.coordinator.register.remove(`${MEMBERS}.${this.#options.self.id}`);
  }

  /** The renewal of the lease does not wait for the other requests. */
  async #run(): Promise<void> {
    await Promise.all([
      this.#repeat(RENEWALS, () => this.#renew()),
      this.#repeat(RENEWALS, () => this.#round()),
      this.#repeat(LOOKS, () => this.#look()),
    ]);
  }

  /** Repeats `work` this many times per lease; it returns whether the coordinator was asked. */
  async #repeat(count: number, work: () => Promise<boolean>): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // The signal ends the pause.
      await clock.sleep(leaseMs / count, signal).catch(() => undefined);
      if (signal.aborted) return;
      const done = work().then(
        (isAsked) => this.#recovered(isAsked),
        (error: unknown) => this.#failed(error),
      );
      // The lease ends whether or not an answer comes.
      await this.#within(done);
    }
  }

  /** Waits for a round, or for the end of the lease. */
  async #within(round: Promise<void>): Promise<void> {
    if (this.#term === 0) return round;
    const ended = new AbortController();
    void this.#expire(ended.signal); // Never rejects.
    await round;
    ended.abort();
    this.#checkLease();
  }

  /** Gives up the leadership when the lease ends; runs until the signal. */
  async #expire(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // A timer may fire early.
    while (this.isLeading && !signal.aborted)
      await clock
        .sleep(this.#leaseUntilMs - clock.monotonicMs() + 1, signal)
        .catch(() => undefined);
    if (!signal.aborted) this.#checkLease();
  }

  #checkLease(): void {
    if (this.#term > 0 && !this.isLeading) this.#lose('its lease has ended');
  }

  #recovered(isAsked: boolean): void {
    if (this.#problem === undefined || !isAsked) return;
    this.#problem = undefined;
    this.#options.events.log('info', 'the coordinator answers again', {});
  }

  #failed(error: unknown): void {
    const isNew = this.#problem === undefined;
    this.#problem = messageOf(error);
    if (isNew)
      this.#options.events.log('warn', 'the coordinator does not answer', { err: this.#problem });
    this.#options.events.looked();
  }

  async #round(): Promise<boolean> {
    const { coordinator, self, events, report } = this.#options;
    const { register } = coordinator;
    const reported = report();
    if (reported === undefined) return false;
    const record: MemberRecord = { ...self, ...reported, isDraining: this.#isDraining };
    await register.put(`${MEMBERS}.${self.id}`, JSON.stringify(record));
    const asked = await register.get(`${DRAIN}.${self.id}`);
    if (asked !== undefined && asked.text !== RESIGN) this.drain();
    this.#isResigning = asked?.text === RESIGN && this.#term > 0;
    if (this.#term > 0) {
      // Repeated in every round until it has resigned.
      if (asked !== undefined) events.drained();
    } else if (asked?.text === RESIGN) await register.remove(`${DRAIN}.${self.id}`);
    await this.#list();
    events.looked();
    return true;
  }

  /** One renewal at a time: each is made against the revision of the previous one. */
  #renew(): Promise<boolean> {
    const renewing = this.#renewing.then(() => this.#renewNow());
    this.#renewing = renewing.then(
      () => undefined,
      () => undefined,
    );
    return renewing;
  }

  async #renewNow(): Promise<boolean> {
    const { coordinator, clock, leaseMs, report } = this.#options;
    if (this.#term === 0 || report() === undefined) return false;
    const record = this.#ownRecord(this.#term);
    const sentMs = clock.monotonicMs();
    const revision = await coordinator.register.change(
      LEADER,
      JSON.stringify(record),
      this.#leaderRevision,
    );
    if (revision === undefined) {
      await this.#adopt(record);
      return true;
    }
    this.#leaderRevision = Math.max(this.#leaderRevision, revision);
    if (this.#term !== record.term) return true;
    this.#leader = record;
    this.#lease(Math.max(this.#leaseUntilMs, sentMs + leaseMs));
    return true;
  }

  /** An earlier renewal may have succeeded without an answer; the next one follows it. */
  async #adopt({ id, term }: LeaderRecord): Promise<void> {
    const entry = await readLeader(this.#options.coordinator.register);
    const there = entry?.record;
    if (entry !== undefined && there?.id === id && there.term === term)
      this.#leaderRevision = entry.revision;
    else this.#lose('another instance leads');
  }

  /** Reads the leader's entry, and takes the leadership if no instance has it. */
  async #look(): Promise<boolean> {
    if (this.#term > 0) return false;
    const { coordinator, self, events } = this.#options;
    const entry = await readLeader(coordinator.register);
    this.#leaders.looked();
    const before = this.#leader;
    const found = entry?.record;
    this.#leader = found;
    if (!isDeepStrictEqual(before, found)) events.looked();
    // The leadership was passed to this instance, or was its own before it was deposed or
    // restarted.
    const isOwn = found?.id === self.id;
    const isVacant = found === undefined || found.id === '';
    const isHeld = !isVacant && !isOwn && this.#leaders.isAlive(LEADER, entry?.revision ?? 0);
    if (isHeld || this.#isOpen) return true;
    if (this.#isFit()) await this.#challenge(entry);
    else if (isOwn) await this.#pass(entry);
    return true;
  }

  #isFit(): boolean {
    const { self, report } = this.#options;
    const reported = report();
    const isReady = reported !== undefined && reported.problem === undefined;
    return isReady && !this.#isDraining && this.level <= self.level;
  }

  /** Declines the leadership that was passed to this instance. */
  async #pass(entry: LeaderEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    const { register } = this.#options.coordinator;
    await register.change(LEADER, JSON.stringify(vacant(entry.record)), entry.revision);
  }

  async #challenge(entry: LeaderEntry | undefined): Promise<void> {
    const { coordinator, clock, leaseMs, events, self } = this.#options;
    const { id, url } = self;
    const term = (entry?.record.term ?? 0) + 1;
    const record: LeaderRecord = { id, url, term, isServing: false, level: this.level };
    const sentMs = clock.monotonicMs();
    const { register } = coordinator;
    const revision = await register.change(LEADER, JSON.stringify(record), entry?.revision ?? 0);
    if (revision === undefined) return;
    this.#term = term;
    this.#isServing = false;
    this.#leader = record;
    this.#leaderRevision = revision;
    this.#lease(sentMs + leaseMs);
    this.#isOpen = this.isLeading;
    if (this.isLeading) events.elected(term);
    else this.#term = 0;
  }

  async #list(): Promise<void> {
    const entries = await this.#options.coordinator.register.list(MEMBERS);
    this.#others.looked();
    this.#members = [...entries].map(([id, { text, revision }]) => ({
      ...OLDEST,
      ...(JSON.parse(text) as MemberRecord),
      isAlive: this.#others.isAlive(id, revision),
      isLeader: this.#leader?.id === id,
    }));
  }

  #ownRecord(term: number): LeaderRecord {
    const { id, url } = this.#options.self;
    return { id, url, term, isServing: this.#isServing, level: this.#commonLevel() };
  }

  /**
   * The level never decreases, because records of that level exist. It increases when all members
   * have supported a higher one for a while, because an instance that is being restarted may come
   * back in its old version.
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
