// A run: several instances of the real code, a coordinator in memory, virtual time. Checked after
// each event and at the end.
import type { LogRecord } from '@tidemark/cluster';
import { MemoryServer } from '@tidemark/cluster/testing';
import { seededRandom } from '@tidemark/testkit';
import { definitions, sameDefinitions } from './checkers/definitions.ts';
import { events } from './checkers/events.ts';
import { oneLeader } from './checkers/one-leader.ts';
import { points } from './checkers/points.ts';
import { running } from './checkers/running.ts';
import { taskOfUnit } from '@tidemark/runtime';
import { RecordLabel } from '../../../packages/engine/src/shared-log/change-record.ts';
import { Metadata } from '../../../packages/engine/src/store/metadata.ts';
import type { TaskRecord } from '../../../packages/engine/src/store/records.ts';
import { LEADER } from './faults/faults.ts';
import { Model } from './model/model.ts';
import { expectedOf, rowsOf } from './model/reference.ts';
import type { Expected, Totals } from './model/reference.ts';
import { seedChance } from './world/chance.ts';
import { countImmediates, settled } from './world/event-loop.ts';
import { Instance, LEASE_MS, SIMULATED_KEY } from './world/instance.ts';
import { CRASH } from './world/simulated-host.ts';
import type { Cut } from './world/instance.ts';
import type { SimulatedLoad } from './world/leader-engine.ts';
import { files, MemoryDisk } from './world/memory-disk.ts';
import { Timeline } from './world/timeline.ts';
import { forgetWires } from './world/wire.ts';
import { Clients } from './workload/clients.ts';
import type { TaskName } from './workload/tasks.ts';
import type { Operation, Plan } from './workload/plan.ts';
import { LOADED, LOADED_VALUE, loadedFile, ownRecord } from './workload/tasks.ts';

/** Long enough for everything to come to rest. */
const REST_MS = 12 * LEASE_MS;

/** Until everybody has noticed a loss at the coordinator. */
const REST_AFTER_LOSS_MS = 6 * LEASE_MS;

/** So long at least, and so long once everything is as it should be. */
const REST_LEAST_MS = LEASE_MS;

/** Until the first instance is known at the coordinator. */
const FIRST_MS = 60;

const OWN_COUNT = 12;
const OWN_LENGTH = 300;

/** How often definitions are compared, and tasks defined that are not there yet. */
const CHECK_MS = 20;

/** Until a process that has ended is started again. */
const SUPERVISOR_MS = 500;

export type Run = {
  readonly instances: readonly (Instance | undefined)[];
  readonly model: Model;
  /** Tasks that have died: what they have missed is not promised to them. */
  readonly dead: ReadonlySet<TaskName>;
  /** How often rare ways were taken. */
  readonly marks: ReadonlyMap<string, number>;
};

export type Result = {
  /** The violated invariant; `undefined` if all hold. */
  readonly failure: string | undefined;
  readonly trace: readonly string[];
  readonly marks: ReadonlyMap<string, number>;
};

export async function simulate(plan: Plan): Promise<Result> {
  const disk = new MemoryDisk();
  const undo = [
    countImmediates(),
    seedChance(plan.seed),
    withoutStacks(),
    () => disk.remove(),
    forgetWires,
  ];
  const simulation = new Simulation(plan, disk);
  try {
    return await simulation.run();
  } finally {
    await simulation.close();
    for (const each of undo.reverse()) each();
  }
}

class Simulation implements Run {
  readonly model = new Model();
  readonly marks = new Map<string, number>();
  readonly instances: (Instance | undefined)[] = [];
  readonly #plan: Plan;
  /** Those of the past, too. */
  readonly #all = new Set<Instance>();
  readonly #timeline = new Timeline();
  /** All records of the log of points, whatever is purged. */
  readonly #logged: LogRecord[] = [];
  readonly #memory = new MemoryServer((record) => void this.#logged.push(record));
  readonly #random: () => number;
  readonly #disk: MemoryDisk;
  readonly #directories: string[] = [];
  #loadDirectory: string | undefined;
  /** The instance that has it. */
  #loading: number | undefined;
  readonly #trace: string[] = [];
  readonly #closing: Promise<void>[] = [];
  readonly #stopping = new Map<number, Instance>();
  /** Instances whose processes have ended by themselves. */
  readonly #ended: number[] = [];
  readonly #clients: Clients;
  /** Tasks that were ended by the failures of hosts. */
  readonly dead = new Set<TaskName>();
  #checkedMs = 0;
  #checked = '';
  #expected: { readonly count: number; readonly of: Expected } | undefined;
  #hasLost = false;
  /** Whether the cluster's first entry was lost before the log had it. */
  #hasLostBegin = false;
  #isHanging = false;
  /** How many hosts have ended. */
  #crashes = 0;
  #isPausingWhenLooping = false;
  /** Leaders that something has hit, by the operation that ends it. */
  readonly #leadersHit = new Map<string, number[]>();
  #delayMs = 2;
  #lossShare = 0;
  #failure: string | undefined;

  constructor(plan: Plan, disk: MemoryDisk) {
    this.#plan = plan;
    this.#random = seededRandom(plan.seed ^ 0x5f3759df);
    this.#disk = disk;
    this.#clients = new Clients(plan, this.model, {
      nowMs: () => this.#timeline.nowMs,
      leader: () => this.#leader(),
      note: (line) => this.#note(line),
      mark: (what) => this.#mark(what),
      failed: (failure) => (this.#failure ??= `answers: ${failure}`),
    });
  }

  async run(): Promise<Result> {
    const { hasOwn, level, steps } = this.#plan;
    this.#memory.begin(level);
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
    for (const instance of this.#all) instance.forget();
    await settled();
  }

  /** The first instance was a single engine before. */
  async #bringOwn(): Promise<void> {
    const directory = this.#disk.directory();
    this.#directories[0] = directory;
    const metadata = await Metadata.open(directory, SIMULATED_KEY);
    // More than one record has room for.
    for (let i = 0; i < OWN_COUNT; i++) {
      const id = `own${i}`;
      const change = this.model.begin(id, `${i}`.padEnd(OWN_LENGTH, '.'));
      const record = ownRecord(id, change.value ?? '');
      const versions = [{ ...record, number: 1, time: '', user: '' }];
      await metadata.commit([
        ...metadata.table<TaskRecord>('tasks').changes({ id, value: record }),
        ...metadata.table('task-versions').changes({ id, value: { versions } }),
      ]);
      this.model.end(change, 'acknowledged');
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
      // One that was drained leads again when it was restarted.
      if (instance?.isDrained === true) await this.#again(i);
      else if (instance === undefined) await this.#restart(i);
      else {
        instance.cut = 'nothing';
        instance.goOn();
      }
    }
    if (this.#hasLost || this.#hasLostBegin) return this.#restAfterLoss();
    const endMs = this.#timeline.nowMs + REST_MS;
    let last = 'to be written' as 'to be written' | 'under way' | 'there';
    let goodMs: number | undefined;
    while (this.#failure === undefined) {
      await this.#passTo(this.#timeline.nowMs + LEASE_MS / 4);
      await this.#reviveTasks();
      if (last === 'to be written') {
        last = 'under way';
        this.#clients.writeLast((isThere) => (last = isThere ? 'there' : 'to be written'));
        await settled();
      }
      const problem =
        last === 'there' ? await this.#missing() : 'serving: the last points are not acknowledged';
      const { nowMs } = this.#timeline;
      if (problem !== undefined) {
        goodMs = undefined;
        if (nowMs >= endMs) this.#failure ??= problem;
      } else if ((goodMs ??= nowMs) + REST_LEAST_MS <= nowMs) return;
    }
  }

  async #restAfterLoss(): Promise<void> {
    await this.#passTo(this.#timeline.nowMs + REST_AFTER_LOSS_MS);
    const isServing = this.#leader() !== undefined;
    this.#mark(isServing ? 'a loss that nobody noticed' : 'a loss that stops all');
    if (isServing) this.#failure ??= named(definitions.name, sameDefinitions(this));
    if (!this.#hasLostBegin) return;
    const silent = this.instances.find((one) => one !== undefined && one.problem === undefined);
    if (isServing || silent !== undefined)
      this.#failure ??=
        'definitions: a cluster whose first instance is lost does not stop and say so';
  }

  /** A task that has died goes on from its state with the next leader. */
  async #reviveTasks(): Promise<void> {
    const leader = this.#leader();
    const engine = leader?.serving;
    if (engine === undefined || !this.#clients.isReady) return;
    const isDead = this.#plan.tasks.some((name) => engine.problemOf(name) !== undefined);
    if (isDead) await this.#again(this.instances.indexOf(leader));
  }

  /** Tasks die only when hosts fail while they work for them, and leave their states. */
  #noteDead(): void {
    const leader = this.#leader();
    const engine = leader?.serving;
    if (engine === undefined) return;
    for (const name of this.#plan.tasks) {
      const problem = this.#clients.hasDefined(name) ? engine.problemOf(name) : undefined;
      if (problem === undefined) continue;
      // One that has brought down two hosts while it started is not started any more.
      const isLegal = this.#crashes > 1 || engine.hasStarted(name);
      if (!problem.includes(CRASH) || !isLegal)
        this.#failure ??= `tasks: ${name} has ended: ${problem}`;
      this.#died(name);
      const states = leader?.role?.copy?.read('snapshots').keys() ?? [];
      if (![...states].some((unit) => taskOfUnit(unit) === name))
        this.#failure ??= `tasks: the state of ${name} went with its host`;
    }
  }

  #died(name: TaskName): void {
    if (!this.dead.has(name)) this.#mark('a task died');
    this.dead.add(name);
  }

  /** The condition that does not hold at this moment; `undefined` when all do. */
  async #missing(): Promise<string | undefined> {
    const totals = await this.#totals();
    if (totals === undefined) return 'serving: nobody serves';
    if (this.#expected?.count !== this.#logged.length)
      this.#expected = {
        count: this.#logged.length,
        of: await expectedOf(this.#logged),
      };
    const expected = this.#expected.of;
    return (
      named(points.name, points(this, expected, totals)) ??
      named(events.name, events(this, expected)) ??
      named(definitions.name, sameDefinitions(this))
    );
  }

  async #totals(): Promise<Totals | undefined> {
    const [task] = this.#leader()?.serving?.unitsOf('totals') ?? [];
    let rows: Totals | undefined;
    const asked = Promise.resolve(task?.httpOutput('totals')).then(
      (found) => void (rows = task === undefined ? undefined : rowsOf(found)),
      // The leader has ended.
      () => undefined,
    );
    await this.#passTo(this.#timeline.nowMs + LEASE_MS / 8);
    void asked;
    return rows;
  }

  async #passTo(endMs: number): Promise<void> {
    if (this.#failure !== undefined) return;
    await this.#timeline.passTo(endMs, async () => {
      for (const index of this.#ended.splice(0)) await this.#again(index);
      this.#failure ??= named(oneLeader.name, oneLeader(this));
      if (this.#timeline.nowMs < this.#checkedMs + CHECK_MS) return;
      this.#checkedMs = this.#timeline.nowMs;
      this.#checkDefinitions();
      this.#clients.defineTasks();
      this.#noteDead();
    });
    await Promise.all(this.#closing.splice(0));
  }

  /** Nothing can have changed unless a copy or what it may hold has. */
  #checkDefinitions(): void {
    const leader = this.#leader();
    const found = `${leader?.name} ${leader?.role?.sequence} ${this.model.moves}`;
    if (found === this.#checked) return;
    this.#checked = found;
    this.#failure ??= named(definitions.name, definitions(this));
    this.#failure ??= named(running.name, running(this));
  }

  async #apply(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'define':
        return this.#clients.define(operation.id, operation.value);
      case 'remove':
        return this.#clients.define(operation.id, undefined);
      case 'write':
        return this.#clients.write(operation.form, operation.points);
      case 'join':
        return this.#start(this.instances.length);
      case 'start':
        return this.#restart(this.#hit(operation));
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
      case 'hang':
      case 'answer':
        this.#isHanging = operation.kind === 'hang';
        return;
      case 'damage':
        this.#memory.append('points', { id: '', bytes: Buffer.from('?'), label: '?', level: 1 });
        return;
      case 'reset':
        return this.instances[operation.instance]?.breakWires();
      case 'host ends':
        return this.#crashHost(operation.instance, operation.host);
      case 'next start ends its host':
        this.instances[operation.instance]?.crashHostAt('start');
        return;
      case 'next save ends its host':
        this.instances[operation.instance]?.crashHostAt('state');
        return;
      case 'hosts end':
        this.instances[operation.instance]?.crashHosts();
        return;
      case 'pause when looping':
        this.#isPausingWhenLooping = true;
        return;
      default:
        return this.#harm(operation.kind, this.#hit(operation));
    }
  }

  /** The instance that an operation affects; -1 when it is for a leader, and there is none. */
  #hit({ kind, instance }: { readonly kind: string; readonly instance: number }): number {
    if (instance !== LEADER) return instance;
    const hit = this.#leadersHit.get(kind)?.shift();
    if (hit !== undefined) return hit;
    const leader = this.#leader();
    const index = leader === undefined ? -1 : this.instances.indexOf(leader);
    const end = ENDS.get(kind);
    if (end !== undefined && index >= 0)
      this.#leadersHit.set(end, [...(this.#leadersHit.get(end) ?? []), index]);
    return ENDS.has(kind) || kind === 'drain' ? index : -1;
  }

  #harm(
    kind: 'kill' | 'kill with disk' | 'stop' | 'drain' | 'pause' | 'go on' | keyof typeof CUTS,
    index: number,
  ): void {
    const instance = this.instances[index];
    if (kind === 'go on') this.#isPausingWhenLooping = false;
    if (instance === undefined) return;
    const isServing = instance.serving !== undefined;
    if (isServing) this.#mark(`${kind} of the leader`);
    if (kind === 'drain') instance.drain();
    else if (kind === 'pause') instance.pause();
    else if (kind === 'go on') instance.goOn();
    else if (kind === 'cut' || kind === 'isolate' || kind === 'heal') instance.cut = CUTS[kind];
    else {
      this.instances[index] = undefined;
      if (kind === 'kill with disk') this.#loseDisk(index);
      if (kind === 'stop') this.#stop(index, instance);
      else this.#closing.push(this.#kill(instance));
    }
  }

  /** The first instance's disk has the only copy until the log has all of it. */
  #loseDisk(index: number): void {
    this.#directories[index] = this.#disk.directory();
    const { records } = this.#memory.stored.logs.changes;
    const hasBegun = records.some(({ label }) => label === RecordLabel.End);
    if (this.#plan.hasOwn && index === 0 && !hasBegun) this.#hasLostBegin = true;
  }

  /** In virtual time; for the plan it is gone at once. */
  #stop(index: number, instance: Instance): void {
    this.#stopping.set(index, instance);
    instance.stop().catch((error: unknown) => this.#note(`does not stop: ${String(error)}`));
  }

  /** Points of a loopback node are on their way to the leader. */
  #loops(): void {
    if (!this.#isPausingWhenLooping) return;
    this.#isPausingWhenLooping = false;
    this.#mark('a pause when looping');
    this.#harm('pause', this.#hit({ kind: 'pause', instance: LEADER }));
  }

  #crashHost(index: number, host: number): void {
    if (this.instances[index]?.crashHost(host) === true) this.#mark('a host ended');
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
      isConnected: () => this.#random() < 0.5,
      recordsAtOnce: this.#plan.recordsAtOnce,
      load: () => this.#load(index),
      trace: (line) => {
        const [, mark] = MARKED.find(([text]) => line.includes(text)) ?? [];
        if (mark !== undefined) this.#mark(mark);
        this.#note(line);
      },
      threadDelayMs: () => Math.floor(this.#random() * this.#plan.threadDelayMs),
      isHanging: () => this.#isHanging,
      told: (event) => {
        this.#note(`told ${event.id} ${event.message} ${event.level}`);
        const isAgain = this.model.delivered.some(({ message }) => message === event.message);
        if (isAgain) this.#mark('an event was told again');
        if (event.isLate) this.#mark('an event was told late');
        this.model.delivered.push(event);
      },
      hostEnded: () => this.#crashes++,
      loops: () => this.#loops(),
      hostFailed: (reason) => (this.#failure ??= `hosts: ${reason}`),
      taskDied: (task) =>
        this.#plan.tasks.filter((name) => name === task).forEach((name) => this.#died(name)),
      misworded: (line) => (this.#failure ??= `log: ${line}`),
      at: (url) => this.instances.find((one) => one !== undefined && url === one.url),
      ended: () =>
        this.#timeline.at(this.#timeline.nowMs + SUPERVISOR_MS, () => {
          if (this.instances[index] === instance) this.#ended.push(index);
        }),
    });
    this.instances[index] = instance;
    this.#all.add(instance);
    instance.start();
  }

  /** The first leader has a file; the directory of others is missing. */
  #load(index: number): SimulatedLoad | undefined {
    if (!this.#plan.hasFiles) return undefined;
    const directory = (this.#loadDirectory ??= this.#disk.loadDirectory(LOADED, loadedFile()));
    if (index !== (this.#loading ??= index))
      return { directory: `${directory}-missing`, files, ended: () => undefined };
    const change = this.model.begin(LOADED, LOADED_VALUE);
    return {
      directory,
      files,
      ended: (isLoaded) => {
        this.model.end(change, isLoaded ? 'acknowledged' : 'unknown');
        if (isLoaded) this.#mark('files were loaded');
      },
    };
  }

  #kill(instance: Instance): Promise<void> {
    this.#clients.instanceEnded(instance);
    return instance.kill();
  }

  async #again(index: number): Promise<void> {
    const instance = this.instances[index];
    if (instance !== undefined) await this.#kill(instance);
    this.#start(index);
  }

  async #restart(index: number): Promise<void> {
    if (index < 0 || this.instances[index] !== undefined) return;
    const stopping = this.#stopping.get(index);
    if (stopping !== undefined) await this.#kill(stopping);
    this.#stopping.delete(index);
    this.#start(index);
  }

  #mark(what: string): void {
    this.marks.set(what, (this.marks.get(what) ?? 0) + 1);
  }

  #note(line: string): void {
    this.#trace.push(`${this.#timeline.nowMs.toFixed(1)} ${line}`);
  }
}

/** Each wait that is cancelled makes an error: their stacks are a tenth of the time of a run. */
function withoutStacks(): () => void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  return () => void (Error.stackTraceLimit = stackTraceLimit);
}

/** The operation that ends another one. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['pause', 'go on'],
  ['cut', 'heal'],
  ['isolate', 'heal'],
  ['kill', 'start'],
  ['kill with disk', 'start'],
  ['stop', 'start'],
]);

const CUTS = { cut: 'coordinator', isolate: 'all', heal: 'nothing' } as const satisfies Record<
  string,
  Cut
>;

/** Log messages of an instance on rare paths. */
const MARKED: readonly (readonly [string, string])[] = [
  ['leads no more', 'leads no more'],
  ['info this instance leads ', 'leads'],
  ['a task was moved', 'a task was moved'],
  ['tasks go on elsewhere', 'tasks went on elsewhere'],
  ['is set aside', 'a record was set aside'],
];

function named(checker: string, failure: string | undefined): string | undefined {
  return failure === undefined ? undefined : `${checker}: ${failure}`;
}
