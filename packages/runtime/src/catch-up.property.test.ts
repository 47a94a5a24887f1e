// Catch-up: wherever a task was killed, and however old its last state was, after it has received
// the missed points it behaves as without the interruption, and no alert is published twice.
import { buildPipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PointBatchBuilder } from './point-batch.ts';
import type { PointInput } from './point-batch.ts';
import { ContainedPoints, positionOf, seriesText } from './position.ts';
import type { Rerun, TaskSnapshot } from './running-task.ts';
import { createTask } from './task.ts';
import type { InlineTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;
const START = 1_704_067_200n * SECOND;
/**
 * Series that had no point for longer are not remembered; events of windows may lie further back.
 */
const LATENESSES = [0n, SECOND, 20n * SECOND, 1_000n * SECOND];

/** Lives of one task in virtual time, and what its last node emitted in the present one. */
class Lives {
  readonly topics = new RememberingTopics();
  readonly #script: string;
  readonly #lateness: bigint;
  out: string[] = [];
  task: InlineTask;

  constructor(script: string, lateness: bigint) {
    this.#script = script;
    this.#lateness = lateness;
    this.task = this.#make(START, undefined);
  }

  #make(now: bigint, rerun: Rerun | undefined): InlineTask {
    const { pipeline, error } = buildPipeline(this.#script);
    if (pipeline === undefined) throw new Error(error?.text);
    const clock = {
      now: () => now,
      monotonicMs: () => 0,
      sleep: () => new Promise<void>(() => undefined),
    };
    const task = createTask(pipeline, silentServices({ alerts: this.topics }), {
      taskId: 't',
      clock,
      timers: new VirtualTimers(now),
      position: { latenessNanos: this.#lateness },
      rerun,
    });
    task.tap(pipeline.nodes.at(-1)?.name ?? '', (message) => {
      this.out.push(
        JSON.stringify(message, (_, value: unknown) => {
          if (typeof value === 'bigint') return `${value}n`;
          return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
        }),
      );
    });
    return task;
  }

  push(points: readonly PointInput[]): void {
    const builder = new PointBatchBuilder('d', 'r');
    for (const point of points) builder.add(point);
    this.task.pushDue(builder.build(), { offset: 0n });
    expect(this.task.error).toBeUndefined();
  }

  /** The task was killed at `now`, goes on with its last state and gets what the database has. */
  catchUp(state: TaskSnapshot, database: readonly PointInput[], now: bigint): void {
    const position = positionOf(state);
    if (position === undefined) throw new Error('the state has a position');
    const late = position.time - this.#lateness;
    const since = late > position.begun ? late : position.begun;
    this.out = [];
    this.task = this.#make(now, { now: position.time, since, begun: position.begun });
    this.task.restore(state);
    const contained = new ContainedPoints(position).of('d', 'r');
    const missed = database.filter(({ name, tags, time }) => {
      const sorted = new Map([...tags].sort(([a], [b]) => (a < b ? -1 : 1)));
      const key = seriesText(name, [...sorted.keys()], [...sorted.values()]);
      const newest = contained.get(key);
      return time >= since && (newest === undefined || time > newest);
    });
    this.push(missed);
    this.task.advanceTo(now);
    this.task.goLive();
  }
}

const points = fc
  .array(
    fc.record({
      name: fc.constantFrom('m', 'm', 'm', 'n'),
      host: fc.constantFrom('a', 'b', 'c'),
      rack: fc.constantFrom('1', '2'),
      step: fc.integer({ min: 1, max: 9 }),
      v: fc.integer({ min: 0, max: 40 }).map((i) => i / 2),
    }),
    { minLength: 2, maxLength: 60 },
  )
  .map((list) => {
    let time = START;
    return list.map(({ name, host, rack, step, v }): PointInput => {
      time += BigInt(step) * SECOND;
      return {
        name,
        tags: [
          ['host', host],
          ['rack', rack],
        ],
        fields: [['v', v]],
        time,
      };
    });
  });

/** At which level a group came back that was deleted in the missed time is not known any more. */
const EVENTS_ONLY = 'alert of groups that are deleted';

const FROM = `stream|from().measurement('m').groupBy('host')`;
const SCRIPTS: readonly (readonly [string, string])[] = [
  ['counters', `${FROM}|eval(lambda: count(), lambda: sigma("v")).as('n', 's')`],
  ['time window', `${FROM}|window().period(20s).every(10s)|sum('v')`],
  ['count window', `${FROM}|window().periodCount(4).everyCount(2)|mean('v')`],
  ['state nodes', `${FROM}|stateDuration(lambda: "v" > 5.0)|stateCount(lambda: "v" > 5.0)`],
  ['derivative', `${FROM}|derivative('v')|cumulativeSum('derivative')`],
  [
    'join',
    `var a = ${FROM}\nvar b = stream|from().measurement('n').groupBy('host')\na|join(b).as('a', 'b').tolerance(5s).fill(0.0)`,
  ],
  [
    'alert',
    `${FROM}|alert().warn(lambda: "v" > 8.0).crit(lambda: "v" > 15.0).stateChangesOnly().topic('x').levelField('l').durationField('d')`,
  ],
  ['alert at every point', `${FROM}|alert().crit(lambda: "v" > 10.0).topic('x')`],
  [
    'alert that never recovers',
    `${FROM}|alert().crit(lambda: "v" > 10.0).stateChangesOnly().noRecoveries().topic('x')`,
  ],
  [
    'flapping alert of windows',
    `${FROM}|window().period(10s).every(5s)|mean('v')|alert().warn(lambda: "mean" > 8.0).warnReset(lambda: "mean" < 4.0).history(6).flapping(0.25, 0.5).topic('x')`,
  ],
  [
    'barriers of idle groups',
    `${FROM}|barrier().idle(7s)|window().period(20s).every(10s)|sum('v')`,
  ],
  [
    'barriers that delete',
    `${FROM}|barrier().period(13s).delete(TRUE)|eval(lambda: count()).as('n')`,
  ],
  [
    EVENTS_ONLY,
    `${FROM}|barrier().period(13s).delete(TRUE)|alert().crit(lambda: "v" > 10.0).stateChangesOnly().topic('x')`,
  ],
  ['a deadman', `${FROM}|deadman(0.5, 6s, lambda: TRUE)`],
];

describe('a task that was killed', () => {
  test.each(SCRIPTS)('does after catching up what it would have done: %s', (name, script) => {
    const moments = fc.tuple(fc.nat(), fc.nat(), fc.nat());
    fc.assert(
      fc.property(points, moments, fc.constantFrom(...LATENESSES), (input, at, lateness) => {
        const [saved, killed, back] = at;
        const savedAt = saved % input.length;
        const killedAt = savedAt + (killed % (input.length - savedAt + 1));
        const backAt = killedAt + (back % (input.length - killedAt + 1));
        const now = (input[backAt - 1]?.time ?? START) + SECOND / 2n;
        const steady = new Lives(script, lateness);
        steady.push(input.slice(0, savedAt));
        const before = steady.out.length;
        steady.push(input.slice(savedAt));
        const end = (input.at(-1)?.time ?? START) + 60n * SECOND;
        steady.task.advanceTo(end);

        const killedTask = new Lives(script, lateness);
        killedTask.push(input.slice(0, savedAt));
        const state = structuredClone(killedTask.task.snapshot());
        killedTask.push(input.slice(savedAt, killedAt));
        killedTask.catchUp(state, input.slice(0, backAt), now);
        killedTask.push(input.slice(backAt));
        killedTask.task.advanceTo(end);

        if (name !== EVENTS_ONLY) expect(killedTask.out).toEqual(steady.out.slice(before));
        expect(killedTask.topics.events).toEqual(steady.topics.events);
      }),
      { numRuns: 20 },
    );
  });
});
