// Replay of a log: wherever a task was killed, after any row and with timestamps in any order, it
// publishes every event once and in order after it has replayed the rows after its state
// (docs/adr/0027-told-events.md).
import { buildPipeline } from '@tidemark/pipeline';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PointBatchBuilder } from './point-batch.ts';
import type { PointBatch, PointInput } from './point-batch.ts';
import { positionOf } from './position.ts';
import type { Rerun, TaskSnapshot } from './running-task.ts';
import { createTask } from './task.ts';
import type { InlineTask } from './task.ts';
import { RememberingTopics } from './testing/remembering-topics.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;
const START = 1_704_067_200n * SECOND;

type Taken = { readonly script: string; readonly topics: RememberingTopics };

/** A task of some moment, which lives in virtual time. */
function taskOf(
  { script, topics }: Taken,
  { now = START, rerun }: { readonly now?: bigint; readonly rerun?: Rerun } = {},
): InlineTask {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  const clock = {
    now: () => now,
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  return createTask(pipeline, silentServices({ alerts: topics }), {
    taskId: 't',
    clock,
    timers: new VirtualTimers(now),
    position: { latenessNanos: 0n },
    rerun,
  });
}

function give(task: InlineTask, records: readonly PointBatch[]): void {
  for (const record of records) task.pushDue(record, { at: record.arrived ?? 0n });
  expect(task.error).toBeUndefined();
}

/** Continues from a state as a successor does, with the records after it and later ones. */
function goOn(
  taken: Taken,
  state: TaskSnapshot,
  {
    missed,
    later = [],
  }: { readonly missed: readonly PointBatch[]; readonly later?: readonly PointBatch[] },
): void {
  const position = positionOf(state);
  if (position === undefined) throw new Error('the state has a position');
  const { time, begun, record } = position;
  const now = missed.at(-1)?.arrived ?? time;
  const task = taskOf(taken, { now, rerun: { now: time, since: begun, begun, record } });
  task.restore(state);
  give(task, missed);
  task.goLive();
  give(task, later);
}

/** With or without how long the alert has lasted. */
function eventsOf({ topics }: Taken, isShared: boolean): readonly string[] {
  return isShared ? topics.events.map((line) => line.replace(/ -?\d+$/, '')) : topics.events;
}

const point = fc.record({
  host: fc.constantFrom('a', 'b'),
  /** Before its record came: clients repeat old writes. */
  ago: fc.integer({ min: 0, max: 40 }),
  v: fc.constantFrom(0, 5, 9, 12, 16, 20),
});

const log = fc
  .array(
    fc.record({
      step: fc.integer({ min: 1, max: 15 }),
      points: fc.array(point, { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 2, maxLength: 12 },
  )
  .map((records) => {
    // All points are younger than the task: an event of a timer is known by its time.
    let arrived = START + 60n * SECOND;
    return records.map(({ step, points }, i): PointBatch => {
      arrived += BigInt(step) * SECOND;
      const builder = new PointBatchBuilder('d', 'r');
      for (const { host, ago, v } of points)
        builder.add(pointOf(host, arrived - BigInt(ago) * SECOND, v));
      return { ...builder.build(), record: i + 1, arrived };
    });
  });

function pointOf(host: string, time: bigint, v: number): PointInput {
  return { name: 'm', tags: [['host', host]], fields: [['v', v]], time };
}

/** Records of one point each, each of them older than the one before it. */
function recordsOf(values: readonly number[], first = 1): readonly PointBatch[] {
  return values.map((v, i) => {
    const arrived = START + BigInt(60 + i) * SECOND;
    const batch = new PointBatchBuilder('d', 'r').add(
      pointOf('a', arrived - BigInt(9 * i) * SECOND, v),
    );
    return { ...batch.build(), record: first + i, arrived };
  });
}

/**
 * With one id of several groups, how long an alert has lasted depends on what the topic remembered
 * when the group came, which is not known any more.
 */
const SHARED_IDS = ['one id of all groups', 'two nodes with one topic and one id'];

const FROM = `var data = stream|from().measurement('m').groupBy('host')\ndata`;
const CRIT = `crit(lambda: "v" > 10.0)`;
const SCRIPTS: readonly (readonly [string, string])[] = [
  ['changes of level', `|alert().warn(lambda: "v" > 8.0).${CRIT}.stateChangesOnly().topic('x')`],
  ['every point', `|alert().${CRIT}.topic('x')`],
  ['a handler and a topic', `|alert().${CRIT}.topic('x').log('/dev/null')`],
  ['no recoveries', `|alert().${CRIT}.stateChangesOnly().noRecoveries().topic('x')`],
  ['flapping', `|alert().${CRIT}.history(6).flapping(0.25, 0.5).topic('x')`],
  ['reset', `|alert().${CRIT}.critReset(lambda: "v" < 3.0).stateChangesOnly().topic('x')`],
  ['changes at intervals', `|alert().${CRIT}.stateChangesOnly(5s).topic('x')`],
  [
    'windows',
    `|window().periodCount(3).everyCount(2)|mean('v')|alert().crit(lambda: "mean" > 8.0).topic('x')`,
  ],
  [
    'windows of time',
    `|window().period(9s).every(3s)|sum('v')|alert().crit(lambda: "sum" > 20.0).topic('x')`,
  ],
  ['one id of all groups', `|alert().id('one').${CRIT}.stateChangesOnly().topic('x')`],
  [
    'inhibited',
    `|alert().${CRIT}.inhibit('c', 'host')\ndata|alert().category('c').warn(lambda: "v" > 4.0).topic('x')`,
  ],
  ['a deadman', `|deadman(0.5, 6s, lambda: TRUE)`],
  [
    'windows of idle groups',
    `|barrier().idle(7s)|window().period(20s).every(10s)|sum('v')|alert().crit(lambda: "sum" > 20.0).topic('x')`,
  ],
  [
    'windows with barriers',
    `|barrier().period(5s)|window().period(20s).every(10s)|sum('v')|alert().crit(lambda: "sum" > 20.0).stateChangesOnly().topic('x')`,
  ],
  [
    'groups that are deleted',
    `|barrier().period(13s).delete(TRUE)|alert().${CRIT}.stateChangesOnly().topic('x')`,
  ],
  [
    'two nodes with one topic and one id',
    `|alert().id('one').${CRIT}.topic('x')\ndata|alert().id('one').warn(lambda: "v" < 10.0).topic('x')`,
  ],
];

describe('a task that is given a log again', () => {
  test.each(SCRIPTS)('tells every event once and in its order: %s', (name, rest) => {
    const script = FROM + rest;
    const isShared = SHARED_IDS.includes(name);
    const moments = fc.tuple(fc.nat(), fc.nat(), fc.nat());
    fc.assert(
      fc.property(log, moments, (records, [saved, killed, lost]) => {
        const steady: Taken = { script, topics: new RememberingTopics() };
        give(taskOf(steady), records);

        const taken: Taken = { script, topics: new RememberingTopics() };
        const before = taskOf(taken);
        const savedAt = saved % records.length;
        const killedAt = savedAt + (killed % (records.length - savedAt + 1));
        give(before, records.slice(0, savedAt));
        const state = structuredClone(before.snapshot());
        const toldOfState = taken.topics.events.length;
        give(before, records.slice(savedAt, killedAt));
        // The last published event may not have been stored.
        const toldCount = taken.topics.events.length - toldOfState;
        taken.topics.lose(lost % (toldCount + 1));
        const missed = records.slice(savedAt, killedAt);
        goOn(taken, state, { missed, later: records.slice(killedAt) });

        expect(eventsOf(taken, isShared)).toEqual(eventsOf(steady, isShared));
      }),
      { numRuns: 30 },
    );
  });
});

test('an event that another task has told of the same id hides none', () => {
  const script = `${FROM}|alert().id('one').${CRIT}.stateChangesOnly().topic('x')`;
  const taken: Taken = { script, topics: new RememberingTopics() };
  const records = recordsOf([20, 0, 20]);
  const before = taskOf(taken);
  const state = structuredClone(before.snapshot());
  give(before, records.slice(0, 2));
  const { event } = taken.topics.published.at(-1) ?? {};
  if (event?.cause === undefined) throw new Error('the event has a cause');
  taken.topics.publish('x', { ...event, cause: { ...event.cause, unit: 'other', record: 9 } });

  goOn(taken, state, { missed: records });

  expect(taken.topics.events.slice(3)).toEqual([
    expect.stringContaining(`CRITICAL ${records[2]?.times[0]}`),
  ]);
});

test('a log that has begun anew is not taken for the one that a state is from', () => {
  const script = `${FROM}|alert().${CRIT}.stateChangesOnly().topic('x')`;
  const taken: Taken = { script, topics: new RememberingTopics() };
  const before = taskOf(taken);
  give(before, recordsOf([20], 100));
  const state = structuredClone(before.snapshot());

  goOn(taken, state, { missed: recordsOf([0, 20]) });

  expect(taken.topics.events).toHaveLength(3);
});

test('a state of a version without positions is gone on from by time', () => {
  const script = `${FROM}|alert().${CRIT}.stateChangesOnly().topic('x')`;
  const taken: Taken = { script, topics: new RememberingTopics() };
  const records = recordsOf([20, 0]).map((record, i) => ({
    ...record,
    times: BigInt64Array.of(START + BigInt(i) * SECOND),
  }));
  const before = taskOf(taken);
  const { position, ...rest } = structuredClone(before.snapshot());
  if (position === undefined) throw new Error('the state has a position');
  const { record: _, ...older } = position;
  give(before, records);
  const told = [...taken.topics.events];
  expect(told).toHaveLength(2);
  taken.topics.forgetCauses();

  goOn(taken, { ...rest, position: older }, { missed: records });

  expect(taken.topics.events).toEqual(told);
});
