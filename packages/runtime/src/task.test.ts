// Tasks as their owner sees them: failures stay inside, groups can be limited and expire, memory
// stays bounded.
import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { SeriesTable } from './data/series.ts';
import { PointBatchBuilder } from './point-batch.ts';
import { positionOf } from './position.ts';
import type { TapMessage, TaskLimits } from './running-task.ts';
import { createTask } from './task.ts';
import type { InlineTask } from './task.ts';
import { silentServices } from './testing/silent-services.ts';
import { VirtualTimers } from './timers.ts';

const SECOND = 1_000_000_000n;

type Made = { readonly task: InlineTask; readonly timers: VirtualTimers; readonly logs: string[] };

/** `seriesMax` is the room of the first epoch of the series table. */
function make(script: string, limits: Partial<TaskLimits> = {}, seriesMax?: number): Made {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  const timers = new VirtualTimers(0n);
  const logs: string[] = [];
  const services = silentServices({
    log: { log: (level, node, message) => void logs.push(`${level} ${node} ${message}`) },
  });
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const thread = { series: new SeriesTable(seriesMax) };
  const task = createTask(pipeline, services, { taskId: 't', clock, timers, limits }, thread);
  return { task, timers, logs };
}

function write(
  task: InlineTask,
  rows: readonly (readonly [host: string, v: number, at: number])[],
): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const [host, v, at] of rows) {
    builder.add({ name: 'm', tags: [['h', host]], fields: [['v', v]], time: BigInt(at) * SECOND });
  }
  task.push(builder.build());
}

test('a failure of a node ends the task with its reason, and nothing else', () => {
  const { task } = make(
    `stream|from()|combine(lambda: TRUE, lambda: TRUE).as('a', 'b').max(2)|httpOut('o')`,
  );
  const errors: string[] = [];
  task.onError((error) => errors.push(error));

  write(task, [
    ['a', 1, 0],
    ['a', 2, 0],
    ['a', 3, 0],
    ['a', 4, 1],
  ]);
  write(task, [['a', 1, 9]]);

  expect(task.error).toMatch(/^combine2: refusing to perform combination/);
  expect(errors).toEqual([task.error]);
});

test('a task that failed leaves no timers behind', async () => {
  const { task, timers } = make(
    `var f = stream|from()\nf|stats(1s)|log()\nf|combine(lambda: TRUE, lambda: TRUE).as('a', 'b').max(1)`,
    { groupIdleMs: 1000 },
  );
  await task.start();
  expect(timers.nextAt()).toBeDefined();

  write(task, [
    ['a', 1, 0],
    ['a', 2, 0],
    ['a', 3, 0],
    ['a', 4, 1],
  ]);
  await task.close();

  expect(task.error).toBeDefined();
  expect(timers.nextAt()).toBeUndefined();
});

test('a node that keeps failing does not flood the log', () => {
  const { task, logs } = make(`stream|from()|eval(lambda: "missing" + 1.0).as('x')`);

  write(
    task,
    Array.from({ length: 500 }, (_, i) => ['a', i, i] as const),
  );

  expect(task.stats().nodes.get('eval2')?.errors).toBe(500);
  expect(logs.length).toBeLessThanOrEqual(50);
});

test('points that would open too many groups are errors, the others go on', () => {
  const { task } = make(`stream|from().groupBy('h')|count('v')`, { groupCountMax: 2 });

  write(task, [
    ['a', 1, 0],
    ['b', 1, 0],
    ['c', 1, 0],
    ['a', 1, 1],
  ]);

  expect(task.error).toBeUndefined();
  expect(task.stats().nodes.get('from1')).toMatchObject({ errors: 1, emitted: 3 });
});

test('a task that holds too many points refuses further ones', () => {
  const { task } = make(`stream|from()|window().period(1h).every(1h)`, { heldPointCountMax: 3 });

  write(
    task,
    Array.from({ length: 5 }, (_, i) => ['a', i, i] as const),
  );

  expect(task.stats().heldPointCount).toBe(3);
  expect(task.stats().nodes.get('window2')?.errors).toBe(2);
});

test('a window keeps only points that a later batch has', () => {
  const { task } = make(`stream|from()|window().period(10s).every(5s)`);

  write(task, [
    ['a', 1, 0],
    ['a', 2, 4],
    ['a', 3, 6],
    ['a', 4, 12],
  ]);

  // The next batch ends at 17 s.
  expect(task.stats().heldPointCount).toBe(1);
});

test('memory is told by node, limited by task, and given back', () => {
  const script = `stream|from()|window().periodCount(4).everyCount(4)|count('v')`;
  const { task } = make(script, { heldBytesMax: 80 });
  const memory = (): number => task.stats().nodes.get('window2')?.memory_bytes ?? 0;
  const empty = memory();

  write(task, [
    ['a', 1, 0],
    ['a', 1, 1],
  ]);
  const two = task.stats().heldBytes;
  expect(two).toBeGreaterThan(0);
  expect(memory()).toBeGreaterThanOrEqual(empty + two);
  write(task, [['a', 1, 2]]);
  write(task, [['a', 1, 3]]);

  // The fourth point would go beyond the limit: it is an error of the node that wanted to keep it.
  expect(task.stats().heldBytes).toBe((two / 2) * 3);
  expect(task.stats().nodes.get('window2')?.errors).toBe(1);
  expect(task.error).toBeUndefined();

  const { task: roomy } = make(script);
  write(
    roomy,
    Array.from({ length: 8 }, (_, i) => ['a', 1, i] as const),
  );
  expect(roomy.stats().nodes.get('count3')?.collected).toBe(2);
  expect(roomy.stats().heldBytes).toBe((two / 2) * 4);
});

test('idle groups are forgotten when asked', async () => {
  const { task, timers } = make(
    `stream|from().groupBy('h')|stateCount(lambda: TRUE)|httpOut('o')`,
    {
      groupIdleMs: 10_000,
    },
  );
  await task.start();
  write(task, [
    ['a', 1, 0],
    ['b', 1, 0],
  ]);

  for (let second = 1; second <= 30; second++) {
    timers.advanceTo(BigInt(second) * SECOND);
    write(task, [['a', 1, second]]);
  }

  expect(task.httpOutput('o')).toHaveLength(1);
  expect(task.stats().nodes.get('state_count2')?.working_cardinality).toBe(1);
});

test('memory is flat while groups come and go', async () => {
  const { task, timers } = make(
    `stream|from().groupBy('h')|window().period(10s).every(10s)|mean('v')|httpOut('o')`,
    { groupIdleMs: 60_000 },
  );
  await task.start();
  const counts: number[] = [];

  for (let minute = 0; minute < 600; minute++) {
    timers.advanceTo(BigInt(minute) * 60n * SECOND);
    const rows = Array.from(
      { length: 20 },
      (_, i) => [`host${minute}-${i % 10}`, i, minute * 60 + i] as const,
    );
    write(task, rows);
    counts.push(task.stats().groupCount + task.stats().heldPointCount);
  }

  expect(task.error).toBeUndefined();
  expect(Math.max(...counts.slice(10))).toBeLessThan(150);
});

test('a tap explains why a point did not pass', () => {
  const { task } = make(`stream|from()|where(lambda: "v" > 5.0)`);
  const seen: TapMessage[] = [];
  const stop = task.tap('where2', (message) => seen.push(message), { isExplaining: true });

  write(task, [['a', 1, 0]]);
  stop();
  write(task, [['a', 9, 1]]);

  expect(seen).toEqual([
    {
      kind: 'why',
      edge: 'where2',
      group: '',
      time: 0n,
      outcome: 'dropped',
      conditions: [{ label: 'where', text: '"v" > 5.0', result: false, values: { v: 1 } }],
    },
  ]);
});

test('series beyond the table get groups of their own, also those of writes that span its epochs', () => {
  const { task } = make(`stream|from().groupBy('h')|groupBy('h')|where(lambda: TRUE)`, {}, 8);
  const wrong: TapMessage[] = [];
  let count = 0;
  const check = (message: TapMessage): void => {
    if (message.kind !== 'point') return;
    count++;
    if (message.group !== `h=${message.point.tags.get('h')}`) wrong.push(message);
  };
  for (const node of ['from1', 'groupby2']) task.tap(node, check);

  for (let row = 0; row < 70; row += 7) {
    write(
      task,
      Array.from({ length: 7 }, (_, i) => [`${(row + i) % 33}`, 1, row + i] as const),
    );
  }

  expect(task.error).toBeUndefined();
  expect(count).toBe(140);
  expect(wrong).toEqual([]);
});

/** Latest rows that an httpOut keeps under another group than their own. */
function mixedUp(task: InlineTask): readonly string[] {
  type Code = { readonly series: { readonly tagValues: readonly string[] } };
  type Entry = readonly [{ readonly values: readonly string[] }, { point?: Code; batch?: Code }];
  const { state } = task.snapshot().nodes.findLast(({ name }) => name.startsWith('http_out')) ?? {};
  return (state as readonly Entry[]).flatMap(([group, { point, batch }]) => {
    const tags = (point ?? batch)?.series.tagValues ?? [];
    return tags.join() === group.values.join()
      ? []
      : [`${tags.join()} under ${group.values.join()}`];
  });
}

test.each([
  // The stats node behind a deadman tells of groups that are silent, and of those that a barrier
  // has deleted.
  ['a stats node counts', `|deadman(0.0, 7s)|httpOut('o')`],
  ['a barrier deletes', `|barrier().idle(5s).delete(TRUE)|deadman(0.0, 7s)|httpOut('o')`],
  ['wait for the other side', `|union(stream|from().measurement('n').groupBy('h'))|httpOut('o')`],
  [
    'wait for the next time',
    `|window().periodCount(1).everyCount(1)|groupBy('h')|log()|httpOut('o')`,
  ],
])('groups that %s are not mixed up with later ones in their place', async (_, nodes) => {
  const { task, timers } = make(`stream|from().measurement('m').groupBy('h')${nodes}`, {
    groupIdleMs: 20_000,
  });
  await task.start();

  for (let host = 0; host < 30; host++) {
    timers.advanceTo(BigInt(host) * 60n * SECOND);
    write(task, [[`h${host}`, host, host * 60]]);
    expect(mixedUp(task)).toEqual([]);
  }
  // The side that was silent speaks, and what waited goes on.
  timers.advanceTo(3600n * SECOND);
  const builder = new PointBatchBuilder('d', 'r');
  for (const h of ['h0', 'h29', 'new']) {
    builder.add({ name: 'n', tags: [['h', h]], fields: [['v', 1]], time: 3600n * SECOND });
  }
  task.push(builder.build());
  expect(mixedUp(task)).toEqual([]);
  write(task, [['new', 1, 3601]]);
  expect(mixedUp(task)).toEqual([]);
  timers.advanceTo(3700n * SECOND);
  expect(mixedUp(task)).toEqual([]);
  expect(task.error).toBeUndefined();
});

test('a state knows the newest times of the series that the task reads, and of no others', async () => {
  const { pipeline } = buildPipeline(`stream|from().measurement('m')|httpOut('o')`);
  const timers = new VirtualTimers(0n);
  const clock = {
    now: () => timers.now(),
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const task = createTask(pipeline!, silentServices(), {
    taskId: 't',
    clock,
    timers,
    position: { latenessNanos: SECOND },
  });
  const builder = new PointBatchBuilder('d', 'r');
  for (const name of ['m', 'n']) builder.add({ name, tags: [], fields: [['v', 1]], time: 5n });
  task.push({ ...builder.build(), record: 3 });
  const other = new PointBatchBuilder('d', 'r');
  other.add({ name: 'n', tags: [], fields: [['v', 1]], time: 6n });
  task.push({ ...other.build(), record: 4 });

  const position = positionOf(await task.takeState());

  expect(position?.marks.map(({ keys, times }) => [keys, times])).toEqual([
    [['m'], BigInt64Array.of(5n)],
  ]);
  expect(position?.record).toBe(4);
  expect(task.collectedCount).toBe(1);
});
