// A month of virtual time in one thread: tasks of every kind, hosts that appear and disappear, and
// the memory of each day.
import { systemClock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { collectAll } from '@tidemark/process';
import { createTask, PointBatchBuilder, SeriesTable, VirtualTimers } from '@tidemark/runtime';
import type { InlineTask, PointBatch, TaskServices } from '@tidemark/runtime';
import { silentAlerts, silentServices } from '@tidemark/runtime/testing';
import { soakScripts } from './scripts.ts';

const SECOND = 1_000_000_000n;
const DAY_SECONDS = 86_400;
const START = 1_704_067_200n * SECOND;
/** Hosts at any time; each is replaced after a day, at a time of its own. */
const HOST_COUNT = 10;
const RACK_COUNT = 4;
/** Steps between two tasks that are saved and restored. */
const RESTART_EVERY = 4;

export type MonthOptions = {
  readonly days: number;
  readonly taskCount: number;
  readonly stepSeconds: number;
  readonly seed: number;
  readonly onDay: (day: number, heapMiB: number, groupCount: number) => void;
};

export type MonthResult = {
  readonly pointCount: number;
  readonly eventCount: number;
  readonly hostsSeen: number;
  readonly seconds: number;
  readonly heapMiB: readonly number[];
  readonly groupCounts: readonly number[];
  readonly heldCounts: readonly number[];
  readonly restoredCount: number;
  readonly errors: readonly string[];
  /** Tasks of which nothing came out. */
  readonly silent: readonly string[];
};

/** Runs it. Tasks are saved and restored in turn. */
export async function runMonth(options: MonthOptions): Promise<MonthResult> {
  const clock = systemClock();
  const startMs = clock.monotonicMs();
  const month = new Month(options);
  const heapMiB: number[] = [];
  const groupCounts: number[] = [];
  const heldCounts: number[] = [];
  const stepsPerDay = DAY_SECONDS / options.stepSeconds;
  for (let step = 0; step < options.days * stepsPerDay; step++) {
    await month.step(step);
    if ((step + 1) % stepsPerDay !== 0) continue;
    heapMiB.push(await heapAfterCollection());
    groupCounts.push(month.count(({ groupCount }) => groupCount));
    heldCounts.push(month.count(({ heldPointCount }) => heldPointCount));
    options.onDay(heapMiB.length, heapMiB.at(-1) ?? 0, groupCounts.at(-1) ?? 0);
  }
  const seconds = (clock.monotonicMs() - startMs) / 1000;
  return { ...month.result(), seconds, heapMiB, groupCounts, heldCounts };
}

class Month {
  readonly #options: MonthOptions;
  readonly #timers = new VirtualTimers(START);
  readonly #thread = { series: new SeriesTable() };
  readonly #scripts: readonly string[];
  readonly #tasks: InlineTask[];
  /** Points that reached the last node before the task was last restored. */
  readonly #earlier: number[];
  readonly #hosts = new Set<string>();
  #eventCount = 0;
  #pointCount = 0;
  #restoredCount = 0;
  #random: number;

  constructor(options: MonthOptions) {
    this.#options = options;
    this.#random = options.seed >>> 0;
    this.#scripts = soakScripts(options.taskCount);
    this.#earlier = this.#scripts.map(() => 0);
    this.#tasks = this.#scripts.map((_, i) => this.#makeTask(i));
  }

  async step(step: number): Promise<void> {
    const time = START + BigInt(step * this.#options.stepSeconds) * SECOND;
    this.#timers.advanceTo(time);
    const batch = this.#batch(step, time);
    this.#pointCount += batch.rowCount;
    for (const task of this.#tasks) task.push(batch);
    if (step % RESTART_EVERY === 0)
      await this.#restart((step / RESTART_EVERY) % this.#tasks.length);
  }

  count(of: (stats: ReturnType<InlineTask['stats']>) => number): number {
    return this.#tasks.reduce((sum, task) => sum + of(task.stats()), 0);
  }

  result(): Pick<
    MonthResult,
    'pointCount' | 'eventCount' | 'hostsSeen' | 'restoredCount' | 'errors' | 'silent'
  > {
    return {
      pointCount: this.#pointCount,
      eventCount: this.#eventCount,
      hostsSeen: this.#hosts.size,
      restoredCount: this.#restoredCount,
      errors: this.#tasks.flatMap((task, i) =>
        task.error === undefined ? [] : [`${this.#scripts[i]}: ${task.error}`],
      ),
      silent: this.#scripts.filter((_, i) => this.#reached(i) === 0),
    };
  }

  #batch(step: number, time: bigint): PointBatch {
    const builder = new PointBatchBuilder('d', 'r');
    const seconds = step * this.#options.stepSeconds;
    for (let slot = 0; slot < HOST_COUNT; slot++) {
      const life = Math.floor((seconds + (slot * DAY_SECONDS) / HOST_COUNT) / DAY_SECONDS);
      const host = `host-${slot}-${life}`;
      this.#hosts.add(host);
      const tags = [
        ['host', host],
        ['rack', `r${slot % RACK_COUNT}`],
      ] as const;
      const usage = this.#next() * 100;
      const fields = [
        ['usage', usage],
        ['state', usage > 50 ? 'busy' : 'idle'],
      ] as const;
      builder.add({ name: 'cpu', tags, fields, time });
      // Now and then one of a pair is missing or late.
      if (this.#next() < 0.9) {
        const late = this.#next() < 0.1 ? 30n * SECOND : 0n;
        builder.add({ name: 'mem', tags, fields: [['used', usage / 2]], time: time - late });
      }
    }
    for (let rack = 0; rack < RACK_COUNT; rack++) {
      builder.add({ name: 'rack', tags: [['rack', `r${rack}`]], fields: [['power', 5.5]], time });
    }
    return builder.build();
  }

  /** Points that have reached the last node of a task, in all its lives. */
  #reached(i: number): number {
    const last = [...(this.#tasks[i]?.stats().nodes.values() ?? [])].at(-1);
    return (this.#earlier[i] ?? 0) + (last?.collected ?? 0);
  }

  /** Saves a task and goes on with a new one in its place. */
  async #restart(i: number): Promise<void> {
    const before = this.#tasks[i];
    if (before === undefined || before.error !== undefined) return;
    this.#earlier[i] = this.#reached(i);
    const snapshot = structuredClone(before.snapshot());
    await before.close();
    const after = this.#makeTask(i);
    after.restore(snapshot);
    this.#tasks[i] = after;
    this.#restoredCount++;
  }

  #makeTask(i: number): InlineTask {
    const { pipeline, error } = buildPipeline(this.#scripts[i] ?? '');
    if (pipeline === undefined) throw new Error(`${this.#scripts[i]}: ${error?.text}`);
    const task = createTask(
      pipeline,
      this.#services(),
      {
        taskId: `t${i}`,
        clock: { ...systemClock(), now: () => this.#timers.now() },
        timers: this.#timers,
        limits: { groupIdleMs: 2 * 3_600_000 },
      },
      this.#thread,
    );
    // Nothing in these tasks waits for anything outside.
    void task.start();
    return task;
  }

  #services(): TaskServices {
    return silentServices({
      alerts: {
        ...silentAlerts,
        publish: () => {
          this.#eventCount++;
        },
      },
    });
  }

  /** Between 0 and 1; the same sequence for the same seed. */
  #next(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#random / 2 ** 32;
  }
}

async function heapAfterCollection(): Promise<number> {
  await collectAll();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
