// The points that a task receives when it catches up, from a database in memory and a concurrent
// stream.
import { InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { PointBatchBuilder, seriesText } from '@tidemark/runtime';
import type { PointBatch, RunningTask, TaskPosition } from '@tidemark/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerTooLarge } from '../database/clusters.ts';
import type { Clusters, RawSeries } from '../database/clusters.ts';
import type { Unit } from '../tasks/unit.ts';
import { PointRouter } from '../ingest/point-router.ts';
import { QuerySlots } from '../batch/query-slots.ts';
import type { Resumption, TaskSource } from '../tasks/task-source.ts';
import { startPoints } from './stream-feed.ts';

const MS = 1_000_000n;
const SECOND = 1_000n * MS;
const NOW = 1_704_067_200n * SECOND;
const LATENESS_MS = 60_000;

type Written = { readonly series: string; readonly time: bigint; readonly value: number };

/** Time that stands still unless somebody sleeps, which takes no time at all. */
class SleepingClock implements Clock {
  #now = NOW;
  readonly sleptMs: number[] = [];
  now(): bigint {
    return this.#now;
  }
  monotonicMs(): number {
    return Number((this.#now - NOW) / MS);
  }
  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    // The limit of a query would otherwise be over at once.
    if (delayMs > 100_000) return new Promise(() => undefined);
    this.sleptMs.push(delayMs);
    this.#now += BigInt(delayMs) * MS;
    await Promise.resolve();
    signal?.throwIfAborted();
  }
}

class World {
  readonly clock = new SleepingClock();
  readonly router = new PointRouter();
  /** Points of measurement `m` by their tag `s`. */
  readonly stored: Written[] = [];
  readonly queries: string[] = [];
  /** Rows as the task got them: `due` in its time, or `live`. */
  readonly given: (Written & { readonly how: 'due' | 'live' })[] = [];
  readonly moves: (bigint | 'live')[] = [];
  readonly gaveUp: string[] = [];
  readonly logged: string[] = [];
  /** Called before each question of the database, with its number. */
  asked: (count: number) => void = () => undefined;
  error: string | undefined;
  unit: Unit;
  #source: TaskSource | undefined;

  constructor() {
    const { pipeline } = buildPipeline("stream|from().measurement('m')|log()");
    if (pipeline === undefined) throw new Error('the script is right');
    const take = (batch: PointBatch, how: 'due' | 'live'): void => {
      for (let row = 0; row < batch.rowCount; row++) {
        const block = batch.blocks[batch.blockOfRow?.[row] ?? 0];
        const [column] = block?.columns ?? [];
        const series = batch.series.at(batch.seriesOfRow[row] as number)?.tagValues[0] ?? '';
        const values = column?.type === 'float' ? column.values : [];
        const value = values[batch.rowInBlock?.[row] ?? row] ?? Number.NaN;
        this.given.push({ how, series, time: batch.times[row] as bigint, value });
      }
    };
    const errorOf = (): string | undefined => this.error;
    const task = {
      taskId: 't',
      get error() {
        return errorOf();
      },
      onError: () => undefined,
      taker: undefined,
      ready: () => undefined,
      processed: () => undefined,
      push: (batch: PointBatch) => take(batch, 'live'),
      pushDue: (batch: PointBatch) => take(batch, 'due'),
      advanceTo: (time: bigint) => this.moves.push(time),
      goLive: () => this.moves.push('live'),
    };
    this.unit = {
      unit: 't',
      definition: 'x',
      id: 't',
      pipeline,
      databases: ['d'],
      task: task as unknown as RunningTask,
      throughput: 0,
      meanThroughput: 0,
      problem: undefined,
    };
  }

  start(position: TaskPosition, more: { readonly catchUpMs?: number; since?: bigint } = {}): void {
    const { clock, router } = this;
    const clusters = {
      exact: (_cluster: string, statement: string) => this.#answer(statement),
    } as unknown as Clusters;
    const since = more.since ?? position.time - BigInt(LATENESS_MS) * MS;
    const from: Resumption = {
      position,
      rerun: { now: position.time, since, begun: position.begun },
    };
    this.#source = startPoints(
      {
        router,
        clusters,
        slots: new QuerySlots({ clock, concurrency: 1, timeoutMs: 1_000_000 }),
        clock,
        config: {
          catchUpMs: 3_600_000,
          catchUpLatenessMs: LATENESS_MS,
          catchUpTimeoutMs: 10_000,
          missedRuns: 'skip',
          missedRunsLimit: 1,
        },
        linked: async () => this.asked(this.queries.push('linked')),
        log: (level, message) => this.logged.push(`${level} ${message}`),
      },
      this.unit,
      {
        dbrps: [{ db: 'd', rp: 'r' }],
        from,
        gaveUp: (reason) => this.gaveUp.push(reason),
      },
    );
  }

  get source(): TaskSource {
    if (this.#source === undefined) throw new Error('it was started');
    return this.#source;
  }

  /** Resolves when the task is live. */
  async live(): Promise<void> {
    while (this.moves.at(-1) !== 'live') await new Promise(setImmediate);
  }

  /** Somebody writes to the database, which tells the stream. */
  write(point: Written, how: { readonly isTold: boolean }): void {
    this.stored.push(point);
    if (how.isTold) this.tell(point);
  }

  tell(...points: readonly Written[]): void {
    const builder = new PointBatchBuilder('d', 'r');
    for (const { series, time, value } of points) {
      builder.add({ name: 'm', tags: [['s', series]], fields: [['v', value]], time });
    }
    // The router keeps what the gate does not take.
    void this.router.dispatch(builder.build());
  }

  async #answer(statement: string): Promise<readonly RawSeries[]> {
    this.asked(this.queries.push(statement));
    if (statement.startsWith('SHOW FIELD KEYS')) {
      return [
        { name: 'm', tags: {}, columns: ['fieldKey', 'fieldType'], values: [['v', 'float']] },
      ];
    }
    const [, start = '', stop] = /time >= (\d+)(?: AND time < (\d+))?/.exec(statement) ?? [];
    const found = this.stored.filter(
      ({ time }) => time >= BigInt(start) && (stop === undefined || time < BigInt(stop)),
    );
    const names = [...new Set(found.map(({ series }) => series))].sort();
    return names.map((name) => ({
      name: 'm',
      tags: { s: name },
      columns: ['time', 'v'],
      values: found
        .filter(({ series }) => series === name)
        .sort((a, b) => (a.time < b.time ? -1 : 1))
        .map(({ time, value }) => [time, value]),
    }));
  }
}

const keyOf = (series: string): string => seriesText('m', ['s'], [series]);

/** A state of half a minute ago that contains these points. */
function positionWith(contained: readonly Written[]): TaskPosition {
  const newest = new Map<string, bigint>();
  for (const { series, time } of contained) {
    const known = newest.get(series);
    if (known === undefined || time > known) newest.set(series, time);
  }
  return {
    time: NOW - 30n * SECOND,
    begun: NOW - 3_600n * SECOND,
    marks: [
      {
        database: 'd',
        retentionPolicy: 'r',
        keys: [...newest.keys()].map(keyOf),
        times: BigInt64Array.from(newest.values()),
      },
    ],
    queries: [],
  };
}

const point = (series: string, offsetMs: number, value = 1): Written => ({
  series,
  time: NOW + BigInt(offsetMs) * MS,
  value,
});

test('every point comes once, whenever it was written and whatever the stream brings again', async () => {
  const written = fc.record({
    series: fc.constantFrom('a', 'b', 'c'),
    /**
     * 0: before the state was taken; 1: while the engine was down; else before that question of the
     * feed.
     */
    stage: fc.integer({ min: 0, max: 7 }),
    /** How far from the present its time is, for those that the stream brings. */
    skewMs: fc.integer({ min: -50_000, max: 5_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(written, { maxLength: 40 }), async (list) => {
      // A series is written in order as long as nobody listens; times are never equal.
      let order = 0;
      const points = list
        .toSorted((a, b) => Math.min(a.stage, 2) - Math.min(b.stage, 2))
        .map(({ series, stage, skewMs }, i) => {
          const offsetMs =
            stage === 0 ? -60_000 + order++ : stage === 1 ? -25_000 + order++ : skewMs;
          const time = NOW + BigInt(offsetMs) * MS + BigInt(i);
          return { stage, point: { series, time, value: i } };
        });
      const ofStage = (stage: number): readonly Written[] =>
        points.filter((each) => each.stage === stage).map((each) => each.point);
      const world = new World();
      world.stored.push(...ofStage(0), ...ofStage(1));
      const told = new Set<Written>();
      world.asked = (count) => {
        for (const each of points) {
          if (each.stage < 2 || each.stage > count + 1 || told.has(each.point)) continue;
          told.add(each.point);
          // The stream begins when it is linked: what is written at that moment may come both ways.
          world.write(each.point, { isTold: true });
        }
      };

      world.start(positionWith(ofStage(0)));
      await world.live();
      for (const each of points) {
        if (each.stage >= 2 && !told.has(each.point)) world.write(each.point, { isTold: true });
      }

      const values = (list: readonly { readonly value: number }[]): readonly number[] =>
        list.map(({ value }) => value).sort((a, b) => a - b);
      const missed = ofStage(1);
      const due = world.given.filter((given) => missed.some(({ value }) => value === given.value));
      const expected = points.filter(({ stage }) => stage > 0);
      expect(values(world.given)).toEqual(values(expected.map((each) => each.point)));
      expect(due.every(({ how }) => how === 'due')).toBe(true);
      expect(due).toEqual(due.toSorted((a, b) => (a.time < b.time ? -1 : 1)));
    }),
    { numRuns: 100 },
  );
});

/** A task with a point of the stream, whose database is unreachable until the task is stopped. */
async function waitingForDatabase(): Promise<World> {
  const world = new World();
  world.asked = () => {
    throw new Unavailable('connection refused');
  };
  world.clock.sleep = async (_, signal) => {
    await new Promise((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  };
  world.start(positionWith([]));
  world.tell(point('a', 1));
  while (world.unit.problem === undefined) await new Promise(setImmediate);
  return world;
}

describe('a task that catches up', () => {
  test('gets what it missed in its own time, then what has waited, then lives', async () => {
    const world = new World();
    const [old, missed, ahead] = [point('a', -40_000), point('a', -20_000), point('b', 9_000)];
    world.stored.push(old, missed, ahead);
    world.asked = (count) => {
      if (count === 3) world.tell(missed, point('a', -10));
    };

    world.start(positionWith([old]));
    await world.live();
    world.tell(ahead, point('a', 10));

    expect(world.given).toEqual([
      { how: 'due', ...missed },
      { how: 'due', ...point('a', -10) },
      { how: 'live', ...ahead },
      { how: 'live', ...point('a', 10) },
    ]);
    expect(world.moves).toEqual([NOW, 'live']);
    expect(world.unit.caughtUpCount).toBe(2);
    expect(world.unit.problem).toBeUndefined();
    expect(world.queries.find((query) => query.startsWith('SELECT'))).toBe(
      `SELECT * FROM "d"."r"."m" WHERE time >= ${NOW} GROUP BY *`,
    );
  });

  test('waits for a database that is away and says so', async () => {
    const world = new World();
    world.stored.push(point('a', -20_000));
    const problems: (string | undefined)[] = [];
    world.asked = (count) => {
      problems.push(world.unit.problem);
      if (count <= 3) throw new Unavailable('connection refused');
    };

    world.start(positionWith([]));
    await world.live();

    expect(problems.slice(1, 4)).toEqual(
      Array.from({ length: 3 }, () => 'catching up: connection refused'),
    );
    expect(world.clock.sleptMs).toEqual([1000, 2000, 4000]);
    expect(world.given).toHaveLength(1);
    expect(world.unit.problem).toBeUndefined();
    expect(world.gaveUp).toEqual([]);
  });

  test.each([
    ['that stays away', new Unavailable('connection refused'), [1000, 2000, 4000, 8000]],
    ['that refuses it', new InvalidRequest('authorization failed'), []],
  ])('goes on without a database %s', async (_, failure, sleptMs) => {
    const world = new World();
    world.asked = () => {
      throw failure;
    };

    world.start(positionWith([]));
    world.tell(point('a', 1));
    await world.live();

    expect(world.gaveUp).toEqual([`gave up catching up: ${failure.message}`]);
    expect(world.clock.sleptMs).toEqual(sleptMs);
    expect(world.given.map(({ time }) => time)).toEqual([point('a', 1).time]);
  });

  test('has missed nothing in a database that does not exist', async () => {
    const world = new World();
    world.asked = (count) => {
      if (count > 1) throw new InvalidRequest('database not found: d');
    };

    world.start(positionWith([]));
    await world.live();

    expect(world.gaveUp).toEqual([]);
    expect(world.given).toEqual([]);
  });

  test('reads what is too much for one answer in parts', async () => {
    const world = new World();
    const points = Array.from({ length: 50 }, (_, i) => point('a', -25_000 + i * 100, i));
    world.stored.push(...points);
    world.asked = () => {
      const [, start = '', stop = ''] =
        /time >= (\d+) AND time < (\d+)/.exec(world.queries.at(-1) ?? '') ?? [];
      const count = points.filter(
        ({ time }) => time >= BigInt(start || NOW) && time < BigInt(stop || NOW),
      ).length;
      if (count > 10) throw new AnswerTooLarge('answer is too large');
    };

    world.start(positionWith([]));
    await world.live();

    expect(world.given.map(({ value }) => value)).toEqual(points.map(({ value }) => value));
    expect(world.gaveUp).toEqual([]);
  });

  test('reads again from its state when its thread fails meanwhile', async () => {
    const world = new World();
    world.stored.push(point('a', -20_000));
    const position = positionWith([]);
    const rerun = { now: position.time, since: position.time, begun: position.begun };
    world.asked = (count) => {
      if (count !== 3) return;
      world.source.suspend();
      world.write(point('b', 1), { isTold: true });
      world.source.resume({ position, rerun });
    };

    world.start(position);
    await world.live();

    expect(world.moves).toEqual([NOW, 'live']);
    expect(world.given.map(({ series }) => series)).toEqual(['a', 'b']);
  });

  test('is left where it is when the engine stops before the database is back', async () => {
    const world = await waitingForDatabase();

    await world.source.settle(10_000);
    await world.router.drained();

    expect(world.given).toEqual([]);
    expect(world.moves).toEqual([]);
    expect(world.logged.at(-1)).toMatch(/^warn stopped before it had caught up/);
  });

  test('is given what has waited when it is stopped', async () => {
    const world = await waitingForDatabase();

    await world.source.close();

    expect(world.given.map(({ time }) => time)).toEqual([point('a', 1).time]);
    expect(world.moves).toEqual([NOW, 'live']);
  });
});
