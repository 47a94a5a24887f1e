// Points are written to a cluster of engines while its leader, or an instance that runs tasks for
// it, is killed, stopped, cut off or asked to end, and its coordinator is started anew. Every point
// that was acknowledged must have been counted by its task, once as by a single engine, and every
// change of a level told, in order.
import { eventually, seededRandom, TestServer } from '@tidemark/testkit';

import { EngineCluster } from './cluster.ts';
import type { Instance } from './cluster.ts';

export type SoakOptions = {
  readonly rounds: number;
  readonly tasks: number;
  readonly pointsPerSecond: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

export type SoakResult = {
  readonly points: number;
  /** Points of writes that had to be sent again; they may have been counted twice. */
  readonly repeated: number;
  readonly events: number;
  readonly repeatedEvents: number;
  /** Longest time without an acknowledgement, by what was done. */
  readonly gapMsMax: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

const LEASE_MS = 3000;
const TICK_MS = 100;
/** A level changes after so many points of a task. */
const POINTS_PER_LEVEL = 100;
const DATABASES = 20;
const ATTEMPT_MS = 5000;
const ACTIONS = ['kill', 'stop', 'cut', 'end', 'coordinator', 'roll'] as const;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function soakCluster(options: SoakOptions): Promise<SoakResult> {
  const receiver = new TestServer();
  await receiver.open();
  const cluster = await EngineCluster.start(3, LEASE_MS);
  try {
    await defineTasks(cluster, options.tasks, receiver.url);
    const load = new Load(cluster, options);
    const running = load.run();
    const gapMsMax = await disturb(cluster, load, options);
    load.stop();
    await running;
    const problems = await check(cluster, load, { receiver, tasks: options.tasks });
    return {
      points: load.acknowledged,
      repeated: load.repeated,
      ...eventsOf(receiver, options.tasks),
      gapMsMax,
      problems,
    };
  } finally {
    await cluster.close();
    await receiver.close();
  }
}

async function defineTasks(cluster: EngineCluster, count: number, url: string): Promise<void> {
  for (let i = 0; i < count; i++) {
    const crit = `lambda: "n" % ${2 * POINTS_PER_LEVEL} < ${POINTS_PER_LEVEL}`;
    const script = `
var data = stream|from().measurement('m${i}')
data|stateCount(lambda: TRUE)|httpOut('counted')
data|alert().id('task-${i}').message('{{ index .Fields "n" }}').crit(${crit}).stateChangesOnly().post('${url}')`;
    const instance = cluster.instances[i % cluster.instances.length];
    await define(instance, { id: `task-${i}`, dbrps: [{ db: databaseOf(i), rp: 'r' }], script });
  }
  // One that has a group for each task of a database, in parts.
  const script = `stream|from().groupBy('task')|stateCount(lambda: TRUE)|httpOut('counted')`;
  const dbrps = [{ db: databaseOf(0), rp: 'r' }];
  await define(cluster.instances[0], { id: SPLIT_TASK, dbrps, script, split: 4 });
}

async function define(instance: Instance | undefined, task: object): Promise<void> {
  const response = await fetch(`${instance?.url}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({ type: 'stream', status: 'enabled', ...task }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

const SPLIT_TASK = 'split';

/** Tasks are spread over databases, as many of them see all points otherwise. */
function databaseOf(task: number): string {
  return `d${task % DATABASES}`;
}

/** A write has at most so many lines, and begins at the latest after this time. */
const LINES_MAX = 5000;
const FLUSH_MS = 1000;

/** What was not written yet of a database. */
type Waiting = { readonly lines: string[]; readonly sinceMs: number };

/**
 * Writes points as collectors do: many lines at once, one write after the other of a database, each
 * until it is acknowledged. Databases do not wait for each other.
 */
class Load {
  readonly #cluster: EngineCluster;
  readonly #tasks: number;
  readonly #perTick: number;
  readonly #random: () => number;
  /** Instances that clients would not use at present. */
  readonly avoided = new Set<Instance>();
  readonly #asked = new Map<Instance, number>();
  /** Number of the next point of each task. */
  readonly next: number[];
  /** By task: points of writes that had to be sent again. */
  readonly repeatedOf: number[];
  acknowledged = 0;
  repeated = 0;
  gapMs = 0;
  #lastMs = performance.now();
  #waitingLines = 0;
  #isStopped = false;

  constructor(cluster: EngineCluster, { tasks, pointsPerSecond, seed }: SoakOptions) {
    this.#cluster = cluster;
    this.#tasks = tasks;
    this.#perTick = Math.max(1, Math.round((pointsPerSecond * TICK_MS) / 1000));
    this.#random = seededRandom(seed);
    this.next = Array.from({ length: tasks }, () => 0);
    this.repeatedOf = Array.from({ length: tasks }, () => 0);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Longest time without an acknowledgement since this was asked the last time. */
  takeGapMs(): number {
    const gap = Math.max(this.gapMs, performance.now() - this.#lastMs);
    this.gapMs = 0;
    return gap;
  }

  async run(): Promise<void> {
    const waiting = new Map<string, Waiting>();
    const writing = new Map<string, Promise<void>>();
    const flush = (database: string, { lines }: Waiting): void => {
      waiting.delete(database);
      const write = (writing.get(database) ?? Promise.resolve()).then(() =>
        this.#write(database, lines),
      );
      writing.set(database, write);
    };
    let at = 0;
    while (!this.#isStopped) {
      const began = performance.now();
      // Who can not keep up is not given ever more.
      if (this.#waitingLines < LINES_MAX * DATABASES)
        for (let i = 0; i < this.#perTick; i++) this.#addPoint(at++ % this.#tasks, waiting);
      for (const [database, own] of waiting)
        if (own.lines.length >= LINES_MAX || began - own.sinceMs >= FLUSH_MS) flush(database, own);
      await sleep(Math.max(0, TICK_MS - (performance.now() - began)));
    }
    for (const [database, own] of waiting) flush(database, own);
    await Promise.all(writing.values());
  }

  #addPoint(task: number, waiting: Map<string, Waiting>): void {
    const n = this.next[task] ?? 0;
    this.next[task] = n + 1;
    const line = `m${task},task=${task} n=${n}i ${BigInt(Date.now()) * 1_000_000n + BigInt(n)}`;
    const database = databaseOf(task);
    const own = waiting.get(database);
    if (own === undefined) waiting.set(database, { lines: [line], sinceMs: performance.now() });
    else own.lines.push(line);
    this.#waitingLines++;
  }

  async #write(database: string, lines: readonly string[]): Promise<void> {
    const body = lines.join('\n');
    for (;;) {
      const usable = this.#cluster.instances.filter((one) => !this.avoided.has(one));
      const instance = usable[Math.floor(this.#random() * usable.length)];
      if (instance === undefined) throw new Error('an instance is not disturbed');
      if (await this.#ask(instance, `/engine/v1/write?db=${database}&rp=r`, body)) break;
      this.repeated += lines.length;
      for (const line of lines) this.#repeats(line);
      await sleep(50);
    }
    this.acknowledged += lines.length;
    this.#waitingLines -= lines.length;
    const now = performance.now();
    this.gapMs = Math.max(this.gapMs, now - this.#lastMs);
    this.#lastMs = now;
  }

  #repeats(line: string): void {
    const task = Number(/^m(\d+)/.exec(line)?.[1]);
    this.repeatedOf[task] = (this.repeatedOf[task] ?? 0) + 1;
  }

  async #ask(instance: Instance, path: string, body: string): Promise<boolean> {
    this.#asked.set(instance, this.#asking(instance) + 1);
    const taken = await isTaken(instance.url + path, body);
    this.#asked.set(instance, this.#asking(instance) - 1);
    return taken;
  }

  #asking(instance: Instance): number {
    return this.#asked.get(instance) ?? 0;
  }

  /**
   * Clients use other instances from now on. What was sent to it is answered: a request that lies
   * in the socket of a stopped process is served when that goes on, long after it was repeated.
   */
  async avoid(instance: Instance): Promise<void> {
    this.avoided.add(instance);
    await eventually('answers', () =>
      Promise.resolve(this.#asking(instance) === 0 ? true : undefined),
    );
  }
}

async function isTaken(url: string, body: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    return (await fetch(url, { method: 'POST', body, signal })).status === 204;
  } catch {
    // Whoever was asked is gone, which is what this is about.
    return false;
  }
}

async function disturb(
  cluster: EngineCluster,
  load: Load,
  { rounds, say }: SoakOptions,
): Promise<Readonly<Record<string, number>>> {
  const gaps: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    await sleep(2000);
    load.takeGapMs();
    const action = ACTIONS[round % ACTIONS.length] ?? 'kill';
    const asked = cluster.instances[round % cluster.instances.length];
    if (asked === undefined) throw new Error('a cluster has instances');
    const leader = await eventually('a leader', () => cluster.leader(asked).catch(() => undefined));
    // Every action comes to both in turn.
    const isOfLeader = (round + Math.floor(round / ACTIONS.length)) % 2 === 0;
    const { tasks, other } = await eventually('members', () =>
      cluster.busiest(leader).catch(() => undefined),
    );
    const target = isOfLeader || action === 'coordinator' ? leader : other;
    await act(cluster, load, { action, target });
    await sleep(1000);
    const gap = Math.round(load.takeGapMs());
    const role = target === leader ? 'leader' : 'other';
    const name = action === 'coordinator' ? action : `${action} ${role}`;
    gaps[name] = Math.max(gaps[name] ?? 0, gap);
    say(
      `round ${round + 1} of ${rounds}: ${name} ${target.name}, ${gap} ms without an answer, tasks before ${tasks.join(' ')}`,
    );
  }
  return gaps;
}

async function act(
  cluster: EngineCluster,
  load: Load,
  { action, target }: { readonly action: (typeof ACTIONS)[number]; readonly target: Instance },
): Promise<void> {
  await load.avoid(target);
  try {
    switch (action) {
      case 'kill':
        await target.process.kill();
        await cluster.restart(target);
        break;
      case 'end':
        await target.process.stop();
        await cluster.restart(target);
        break;
      case 'stop':
        target.process.process.kill('SIGSTOP');
        await sleep(2 * LEASE_MS);
        target.process.process.kill('SIGCONT');
        break;
      case 'cut':
        target.link.cut();
        await sleep(2 * LEASE_MS);
        target.link.restore();
        break;
      case 'roll':
        load.avoided.delete(target);
        for (const instance of cluster.instances) await restartOne(cluster, load, instance);
        break;
      default:
        load.avoided.delete(target);
        await cluster.coordinator.kill();
        await cluster.coordinator.start();
    }
    await sleep(LEASE_MS);
  } finally {
    load.avoided.delete(target);
  }
}

/** A step of a rolling restart: nobody uses the instance, another one leads, it is started anew. */
async function restartOne(cluster: EngineCluster, load: Load, instance: Instance): Promise<void> {
  await load.avoid(instance);
  try {
    const asked = cluster.instances.find((one) => one !== instance);
    const path = `/engine/v1/cluster/members/${encodeURIComponent(instance.url)}/drain`;
    const response = await fetch(`${asked?.url}${path}`, { method: 'POST' });
    if (response.status !== 204) throw new Error(await response.text());
    await instance.process.stop();
    await cluster.restart(instance);
  } finally {
    load.avoided.delete(instance);
  }
}

/** Numbers of points whose events were received, by task, in their order. */
function received(receiver: TestServer, tasks: number): readonly (readonly number[])[] {
  const numbers: number[][] = Array.from({ length: tasks }, () => []);
  for (const { body } of receiver.requests) {
    const { id, message } = JSON.parse(body) as { readonly id: string; readonly message: string };
    numbers[Number(id.slice('task-'.length))]?.push(Number(message));
  }
  return numbers;
}

function eventsOf(
  receiver: TestServer,
  tasks: number,
): { readonly events: number; readonly repeatedEvents: number } {
  const all = received(receiver, tasks);
  const events = all.reduce((sum, numbers) => sum + new Set(numbers).size, 0);
  return { events, repeatedEvents: receiver.requests.length - events };
}

async function check(
  cluster: EngineCluster,
  load: Load,
  { receiver, tasks }: { readonly receiver: TestServer; readonly tasks: number },
): Promise<readonly string[]> {
  const problems: string[] = [];
  const [instance] = cluster.instances;
  const missing = (): readonly string[] =>
    received(receiver, tasks).flatMap((numbers, task) => {
      const seen = new Set(numbers);
      const gone: string[] = [];
      for (let n = 0; n < (load.next[task] ?? 0); n += POINTS_PER_LEVEL)
        if (!seen.has(n)) gone.push(`task ${task}: the event of point ${n} was not told`);
      return gone;
    });
  await eventually(
    'all events',
    () => Promise.resolve(missing().length === 0 ? true : undefined),
    30_000,
  ).catch(() => problems.push(...missing()));
  received(receiver, tasks).forEach((numbers, task) => {
    // Others are of writes that were sent again: their first point may change the level back.
    const first = [...new Set(numbers)].filter((n) => n % POINTS_PER_LEVEL === 0);
    const odd = numbers.filter((n) => n % POINTS_PER_LEVEL !== 0);
    if (odd.length > 0 && load.repeated === 0)
      problems.push(`task ${task}: events of points that change no level: ${odd.join(' ')}`);
    if (first.some((n, i) => i > 0 && n < (first[i - 1] ?? 0)))
      problems.push(`task ${task}: events came out of order: ${first.join(' ')}`);
  });
  const checkCount = (what: string, task: number, count: number): void => {
    if (count < (load.next[task] ?? 0))
      problems.push(`${what}: counted ${count} of ${load.next[task]} points`);
    // A single engine counts every write once, too, and may have kept one that got no answer.
    if (count > (load.next[task] ?? 0) + (load.repeatedOf[task] ?? 0))
      problems.push(`${what}: counted ${count}, sent were ${load.next[task]}`);
  };
  let counted = 0;
  for (let task = 0; task < tasks; task++) {
    const [count = 0] = (await countsOf(instance, `task-${task}`)).values();
    counted += count;
    checkCount(`task ${task}`, task, count);
  }
  const split = await countsOf(instance, SPLIT_TASK);
  for (let task = 0; task < tasks; task++)
    if (databaseOf(task) === databaseOf(0))
      checkCount(`group ${task} of the split task`, task, split.get(String(task)) ?? 0);
  if (counted > load.acknowledged + load.repeated)
    problems.push(`counted ${counted} points, sent were ${load.acknowledged + load.repeated}`);
  return problems;
}

/** What a task has counted, by the tag `task` where it groups by it. */
async function countsOf(
  instance: Instance | undefined,
  id: string,
): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${instance?.url}/engine/v1/tasks/${id}/counted`);
  const { series } = (await response.json()) as {
    readonly series?: readonly {
      readonly tags?: { readonly task?: string };
      readonly columns: readonly string[];
      readonly values: readonly (readonly unknown[])[];
    }[];
  };
  return new Map(
    (series ?? []).map(({ tags, columns, values }) => [
      tags?.task ?? '',
      Number(values[0]?.[columns.indexOf('state_count')] ?? 0),
    ]),
  );
}
