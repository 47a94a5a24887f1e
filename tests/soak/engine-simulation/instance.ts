// One instance in a simulation: the real role, copy, log and membership over a coordinator in
// memory, with a clock that can be stopped and a network that can be cut.
import { MemoryCoordinator, Membership } from '@tidemark/cluster/testing';
import type { MemoryServer } from '@tidemark/cluster/testing';
import { THIS_BUILD } from '../../../packages/engine/src/cluster/build.ts';
import { InstanceRole } from '../../../packages/engine/src/cluster/instance-role.ts';
import type { Term } from '../../../packages/engine/src/cluster/instance-role.ts';
import { LeaderEngine } from './leader-engine.ts';
import { openInMemory } from './memory-disk.ts';
import { ProcessClock } from './timeline.ts';
import type { Timeline } from './timeline.ts';

export const LEASE_MS = 1000;

export const SIMULATED_KEY = {
  setting: 'env:KEY',
  environment: { KEY: 'k'.repeat(32) },
  openRoot: openInMemory,
};

export type InstanceWorld = {
  readonly timeline: Timeline;
  readonly server: MemoryServer;
  readonly delayMs: () => number;
  readonly isAnswerLost: () => boolean;
  readonly trace: (line: string) => void;
  readonly delivered: (point: string) => void;
  /** The process ends by itself; somebody starts it again. */
  readonly ended: () => void;
};

export class Instance {
  readonly name: string;
  readonly directory: string;
  readonly #world: InstanceWorld;
  readonly #clock: ProcessClock;
  readonly #killed = new AbortController();
  isDrained = false;
  #isCut = false;
  #role: InstanceRole | undefined;
  #membership: Membership | undefined;
  #engine: LeaderEngine | undefined;
  #term: Term | undefined;

  constructor(name: string, directory: string, world: InstanceWorld) {
    this.name = name;
    this.directory = directory;
    this.#world = world;
    this.#clock = new ProcessClock(world.timeline);
  }

  /** Begins to start; when that fails the process ends. */
  start(): void {
    this.#open().catch((error: unknown) => {
      this.#trace(`does not start: ${String(error)}`);
      this.#world.ended();
    });
  }

  async #open(): Promise<void> {
    const { server, delayMs, isAnswerLost } = this.#world;
    const network = { isCut: () => this.#isCut, delayMs, isAnswerLost };
    const { signal } = this.#killed;
    const coordinator = new MemoryCoordinator({ server, network, clock: this.#clock, signal });
    const role = new InstanceRole({
      coordinator,
      clock: this.#clock,
      logger: (level, message, fields) => this.#trace(`${level} ${message} ${textOf(fields)}`),
      build: THIS_BUILD,
      cluster: 'simulated',
      directory: this.directory,
      key: SIMULATED_KEY,
      openLeader: async (term, parts) => {
        this.#term = term;
        this.#engine = await LeaderEngine.open(
          {
            term,
            points: coordinator.points,
            clock: this.#clock,
            mayAct: () => this.mayAct,
            deliver: (point) => this.#deliver(point),
            missing: (count) => this.#trace(`lacks ${count} records`),
          },
          parts,
        );
      },
      ended: () => void (this.#engine = undefined),
    });
    this.#role = role;
    const { id } = await role.open();
    const membership = new Membership({
      coordinator,
      clock: this.#clock,
      leaseMs: LEASE_MS,
      self: { id, url: this.name, hostname: this.name, pid: 1, version: '1', level: 1 },
      report: () => ({ replica: role.sequence, problem: role.problem }),
      leased: () => undefined,
      events: {
        elected: () => role.elected(),
        drained: () => role.drained(),
        lost: (reason) => role.lost(reason),
        looked: () => undefined,
        log: (level, message) => this.#trace(`${level} ${message}`),
      },
    });
    this.#membership = membership;
    await membership.start();
    role.start(membership);
  }

  /** Whether it may act in the name of all at this moment, as it sees it. */
  get mayAct(): boolean {
    return this.#membership?.isLeading === true && this.#term?.signal.aborted !== true;
  }

  /** What serves requests; `undefined` where another instance would. */
  get serving(): LeaderEngine | undefined {
    if (!this.#clock.isRunning || !this.mayAct) return undefined;
    return this.#engine;
  }

  /** Its copy as it is, whatever it believes. */
  get role(): InstanceRole | undefined {
    return this.#role;
  }

  get problem(): string | undefined {
    return this.#role?.problem;
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut;
  }

  pause(): void {
    this.#clock.stop();
  }

  goOn(): void {
    this.#clock.goOn();
  }

  drain(): void {
    this.isDrained = true;
    this.#membership?.drain();
    this.#role?.drained();
  }

  /** Stops in peace. */
  async stop(): Promise<void> {
    this.#membership?.drain();
    await this.#role?.stop();
    await this.#membership?.close().catch(() => undefined);
    await this.kill();
  }

  /** Nothing of it happens any more; its directory stays. */
  async kill(): Promise<void> {
    this.#clock.end();
    this.#killed.abort();
    this.#engine = undefined;
    this.#membership = undefined;
    const role = this.#role;
    this.#role = undefined;
    await role?.copy?.close();
  }

  async #deliver(point: string): Promise<void> {
    await this.#clock.sleep(this.#world.delayMs());
    this.#world.delivered(point);
  }

  #trace(line: string): void {
    this.#world.trace(`${this.name}: ${line}`);
  }
}

function textOf(fields: Readonly<Record<string, unknown>> | undefined): string {
  const { err = '', reason = '', term = '' } = fields ?? {};
  return [err, reason, term].map(String).join(' ').trim();
}
