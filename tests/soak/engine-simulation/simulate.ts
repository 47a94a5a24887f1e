// A run: several instances of the real code, a coordinator in memory, virtual time. Checked after
// each event and at the end.
import { MemoryServer } from '@tidemark/cluster/testing';
import { seededRandom } from '@tidemark/testkit';
import { definitions, sameDefinitions } from './checkers/definitions.ts';
import { events } from './checkers/events.ts';
import { oneLeader } from './checkers/one-leader.ts';
import { points } from './checkers/points.ts';
import { Metadata } from '../../../packages/engine/src/store/metadata.ts';
import { Instance, LEASE_MS, SIMULATED_KEY } from './instance.ts';
import { MemoryDisk } from './memory-disk.ts';
import { EVENT_EVERY } from './leader-engine.ts';
import { Model } from './model/model.ts';
import { settled, Timeline } from './timeline.ts';
import type { Operation, Plan } from './workload/plan.ts';

/** Long enough for everything to come to rest. */
const REST_MS = 12 * LEASE_MS;

/** Until the first instance is known at the coordinator. */
const FIRST_MS = 60;

const OWN_COUNT = 12;
const OWN_LENGTH = 300;

/** How often definitions are compared. */
const CHECK_MS = 20;

/** Until a process that has ended is started again. */
const SUPERVISOR_MS = 500;

export type Run = {
  readonly instances: readonly (Instance | undefined)[];
  readonly model: Model;
  readonly raised: readonly string[];
  /** How often rare ways were taken. */
  readonly marks: ReadonlyMap<string, number>;
};

export type Result = {
  /** What did not hold; `undefined` when everything did. */
  readonly failure: string | undefined;
  readonly trace: readonly string[];
  readonly marks: ReadonlyMap<string, number>;
};

export async function simulate(plan: Plan): Promise<Result> {
  const disk = new MemoryDisk();
  const simulation = new Simulation(plan.seed, disk);
  try {
    return await simulation.run(plan);
  } finally {
    await simulation.close();
    disk.remove();
  }
}

class Simulation implements Run {
  readonly model = new Model();
  readonly marks = new Map<string, number>();
  readonly instances: (Instance | undefined)[] = [];
  readonly #timeline = new Timeline();
  /** Points that raise events, in the order of the log. */
  readonly raised: string[] = [];
  readonly #memory = new MemoryServer(({ sequence, bytes }) => {
    if (sequence % EVENT_EVERY === 0) this.raised.push(Buffer.from(bytes).toString('utf8'));
  });
  readonly #random: () => number;
  readonly #disk: MemoryDisk;
  readonly #directories: string[] = [];
  readonly #trace: string[] = [];
  readonly #closing: Promise<void>[] = [];
  readonly #stopping = new Map<number, Instance>();
  /** Whose processes have ended by themselves. */
  readonly #ended: number[] = [];
  #checkedMs = 0;
  #hasLost = false;
  #delayMs = 2;
  #lossShare = 0;
  #failure: string | undefined;

  constructor(seed: number, disk: MemoryDisk) {
    this.#random = seededRandom(seed ^ 0x5f3759df);
    this.#disk = disk;
  }

  async run({ hasOwn, steps }: Plan): Promise<Result> {
    if (hasOwn) await this.#bringOwn();
    this.#start(0);
    // The first one has said what the cluster begins with.
    if (hasOwn) await this.#passTo(FIRST_MS);
    for (let i = 1; i < 3; i++) this.#start(i);
    for (const { atMs, operation } of steps) {
      await this.#passTo(atMs);
      if (this.#failure !== undefined) break;
      this.#note(`> ${JSON.stringify(operation)}`);
      await this.#apply(operation);
      await settled();
    }
    if (this.#failure === undefined) await this.#rest();
    return { failure: this.#failure, trace: this.#trace, marks: this.marks };
  }

  async close(): Promise<void> {
    const all = [...this.instances, ...this.#stopping.values()];
    await Promise.all(all.map((instance) => instance?.kill()));
    await Promise.all(this.#closing);
  }

  /** The first instance was a single engine before. */
  async #bringOwn(): Promise<void> {
    const directory = this.#disk.directory();
    this.#directories[0] = directory;
    const metadata = await Metadata.open(directory, SIMULATED_KEY);
    // More than one record has room for.
    for (let i = 0; i < OWN_COUNT; i++) {
      const change = this.model.begin(`own${i}`, `${i}`.padEnd(OWN_LENGTH, '.'));
      const changed = { id: `own${i}`, value: change.value };
      await metadata.commit([
        ...metadata.table('templates').changes(changed),
        ...metadata.table('tasks').changes(changed),
      ]);
      change.outcome = 'acknowledged';
    }
    await metadata.close();
  }

  /** Everything heals, and after a while everything that was promised is there. */
  async #rest(): Promise<void> {
    this.#note('> rest');
    this.#delayMs = 2;
    this.#lossShare = 0;
    this.#memory.isUp = true;
    for (const [i, instance] of this.instances.entries()) {
      // One that was drained leads again when it was started anew.
      if (instance?.isDrained === true) await this.#again(i);
      else if (instance === undefined) await this.#restart(i);
      else {
        instance.isCut = false;
        instance.goOn();
      }
    }
    await this.#passTo(this.#timeline.nowMs + REST_MS);
    if (this.#hasLost) {
      const isServing = this.#leader() !== undefined;
      this.#mark(isServing ? 'a loss that nobody noticed' : 'a loss that stops all');
      if (isServing) this.#failure ??= named(sameDefinitions.name, sameDefinitions(this));
      return;
    }
    for (const check of [points, events, sameDefinitions])
      this.#failure ??= named(check.name, check(this));
  }

  async #passTo(endMs: number): Promise<void> {
    if (this.#failure !== undefined) return;
    await this.#timeline.passTo(endMs, async () => {
      for (const index of this.#ended.splice(0)) await this.#again(index);
      this.#failure ??= named(oneLeader.name, oneLeader(this));
      if (this.#timeline.nowMs < this.#checkedMs + CHECK_MS) return;
      this.#checkedMs = this.#timeline.nowMs;
      this.#failure ??= named(definitions.name, definitions(this));
    });
    await Promise.all(this.#closing.splice(0));
  }

  async #apply(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'define':
        return this.#define(operation.id, operation.value);
      case 'remove':
        return this.#define(operation.id, undefined);
      case 'write':
        return this.#write(operation.point);
      case 'join':
        return this.#start(this.instances.length);
      case 'start':
        return this.#restart(operation.instance);
      case 'coordinator away':
        this.#memory.isUp = false;
        return;
      case 'coordinator back':
        this.#memory.isUp = true;
        return;
      case 'coordinator syncs':
        this.#memory.sync();
        return;
      case 'coordinator goes back':
        this.#hasLost = true;
        this.#memory.loseUnsynced();
        return;
      case 'coordinator loses its disk':
        this.#hasLost = true;
        this.#memory.loseDisk();
        return;
      case 'slow':
        this.#delayMs = operation.delayMs;
        return;
      case 'lossy':
        this.#lossShare = operation.share;
        return;
      default:
        return this.#harm(operation.kind, operation.instance);
    }
  }

  #harm(
    kind: 'kill' | 'kill with disk' | 'stop' | 'drain' | 'cut' | 'heal' | 'pause' | 'go on',
    index: number,
  ): void {
    const instance = this.instances[index];
    if (instance === undefined) return;
    const isServing = instance.serving !== undefined;
    if (isServing) this.#mark(`${kind} of the leader`);
    if (kind === 'drain') instance.drain();
    else if (kind === 'pause') instance.pause();
    else if (kind === 'go on') instance.goOn();
    else if (kind === 'cut' || kind === 'heal') instance.isCut = kind === 'cut';
    else {
      this.instances[index] = undefined;
      if (kind === 'kill with disk') this.#directories[index] = this.#disk.directory();
      if (kind === 'stop') this.#stop(index, instance);
      else this.#closing.push(instance.kill());
    }
  }

  /** In virtual time; for the plan it is gone at once. */
  #stop(index: number, instance: Instance): void {
    this.#stopping.set(index, instance);
    instance.stop().catch((error: unknown) => this.#note(`does not stop: ${String(error)}`));
  }

  #define(id: string, value: string | undefined): void {
    const engine = this.#leader()?.serving;
    if (engine === undefined || this.model.isBusy(id)) return this.#mark('nobody to ask');
    const change = this.model.begin(id, value);
    engine.define(id, value).then(
      () => (change.outcome = 'acknowledged'),
      (error: unknown) => {
        const isUnknown = String(error).includes('may have been made');
        change.outcome = isUnknown ? 'unknown' : 'refused';
        this.#mark(`a change was ${change.outcome}`);
        this.#note(`${id}=${value} ${change.outcome}: ${String(error)}`);
      },
    );
  }

  #write(point: string): void {
    const engine = this.#leader()?.serving;
    if (engine === undefined) return this.#mark('nobody to ask');
    this.model.points.set(point, 'under way');
    engine.write(point).then(
      () => this.model.points.set(point, 'acknowledged'),
      () => this.model.points.set(point, 'unknown'),
    );
  }

  #leader(): Instance | undefined {
    return this.instances.find((instance) => instance?.serving !== undefined);
  }

  #start(index: number): void {
    const directory = (this.#directories[index] ??= this.#disk.directory());
    const instance = new Instance('abcdefghij'[index] ?? `i${index}`, directory, {
      timeline: this.#timeline,
      server: this.#memory,
      delayMs: () => this.#delayMs * (0.5 + this.#random()),
      isAnswerLost: () => this.#random() < this.#lossShare,
      trace: (line) => {
        if (line.includes('this instance leads ') && !line.includes('no more')) this.#mark('leads');
        this.#note(line);
      },
      delivered: (point) => {
        this.#note(`delivered ${point}`);
        this.model.delivered.push(point);
      },
      ended: () =>
        this.#timeline.at(this.#timeline.nowMs + SUPERVISOR_MS, () => {
          if (this.instances[index] === instance) this.#ended.push(index);
        }),
    });
    this.instances[index] = instance;
    instance.start();
  }

  async #again(index: number): Promise<void> {
    await this.instances[index]?.kill();
    this.#start(index);
  }

  async #restart(index: number): Promise<void> {
    if (this.instances[index] !== undefined) return;
    await this.#stopping.get(index)?.kill();
    this.#stopping.delete(index);
    this.#start(index);
  }

  #mark(what: string): void {
    this.marks.set(what, (this.marks.get(what) ?? 0) + 1);
  }

  #note(line: string): void {
    this.#trace.push(`${this.#timeline.nowMs.toFixed(1)} ${line.replaceAll(UUID, 'ID')}`);
  }
}

/** Ids are random, whatever the seed. */
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

function named(checker: string, failure: string | undefined): string | undefined {
  return failure === undefined ? undefined : `${checker}: ${failure}`;
}
