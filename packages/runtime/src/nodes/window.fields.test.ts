// window: of points whose other fields nobody reads, only the one is kept.
import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';

import { PointBatchBuilder } from '../point-batch.ts';
import type { TapMessage } from '../running-task.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import type { TaskServices } from '../services.ts';
import { silentServices } from '../testing/silent-services.ts';
import { VirtualTimers } from '../timers.ts';

function taskOf(script: string, services: Partial<TaskServices> = {}): InlineTask {
  const { pipeline } = buildPipeline(`stream|from()${script}`);
  const timers = new VirtualTimers(0n);
  const clock = { now: () => 0n, monotonicMs: () => 0, sleep: () => new Promise<void>(() => {}) };
  return createTask(pipeline!, silentServices(services), { taskId: 't', clock, timers });
}

function write(task: InlineTask, ...rows: (readonly [at: number, fields: object])[]): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const [at, fields] of rows) {
    builder.add({
      name: 'm',
      tags: [],
      fields: Object.entries(fields),
      time: BigInt(at) * 1_000_000_000n,
    });
  }
  task.push(builder.build());
}

const bytesOf = (task: InlineTask): number => task.stats().nodes.get('window2')!.memory_bytes;

test.each([
  ['a mean', `|mean('a')|httpOut('o')`, true],
  ['a selector', `|max('a')|httpOut('o')`, false],
  ['the batch itself', `|httpOut('o')`, false],
])('a window for %s', (_, rest, isNarrow) => {
  const all = taskOf(`|window().period(10s).every(10s)|log()`);
  const task = taskOf(`|window().period(10s).every(10s)${rest}`);
  for (const each of [all, task])
    write(each, [1, { a: 1, b: 2, c: 'x' }], [2, { a: 3, b: 4, c: 'y' }]);

  expect(bytesOf(task) < bytesOf(all)).toBe(isNarrow);
});

test('a window keeps what all of its children read', () => {
  const task = taskOf(`|log()
var w = stream|from()|window().period(10s).every(10s)
w|sum('a')|httpOut('a')
w|sum('b')|httpOut('b')`);
  write(task, [1, { a: 1, b: 2, c: 3 }], [2, { a: 3, b: 4, c: 5 }], [11, { a: 0, b: 0, c: 0 }]);

  expect(task.httpOutput('a')).toMatchObject([{ values: [[expect.anything(), 4]] }]);
  expect(task.httpOutput('b')).toMatchObject([{ values: [[expect.anything(), 6]] }]);
});

test('a point without the field is kept whole, and fails as before', () => {
  const task = taskOf(`|window().period(10s).every(10s)|sum('a')|httpOut('o')`);
  write(task, [1, { b: 2 }], [2, { a: 3, b: 4 }], [3, { a: 5, c: 'x' }], [11, { a: 0 }]);

  expect(task.stats().nodes.get('sum3')).toMatchObject({ errors: 1 });
  expect(task.httpOutput('o')).toMatchObject([{ values: [[expect.anything(), 8]] }]);
});

test('a point whose field is null is kept whole, as the error shows it', () => {
  const contexts: unknown[] = [];
  const log: TaskServices['log'] = { log: (_level, _node, _text, of) => contexts.push(of) };
  const task = taskOf(
    `|log()
var large = stream|from()|where(lambda: "a" > 2.0)
stream|from()|join(large).as('l', 'r').fill('null')|window().period(10s).every(10s)|sum('r.a')`,
    { log },
  );
  write(task, [1, { a: 1 }], [2, { a: 3 }], [3, { a: 5 }], [13, { a: 5 }], [14, { a: 5 }]);

  expect(contexts).toContainEqual(expect.objectContaining({ point: 'm l.a=1 1000000000' }));
});

test('a tap sees all fields of the points that come after its start', () => {
  const task = taskOf(`|window().period(10s).every(10s)|sum('a')|httpOut('o')`);
  const seen: TapMessage[] = [];
  write(task, [1, { a: 1, b: 2 }]);
  task.tap('window2', (message) => seen.push(message));
  write(task, [2, { a: 3, b: 4 }], [11, { a: 0, b: 0 }]);

  const [batch] = seen;
  expect(batch).toMatchObject({ kind: 'batch', points: [{}, {}] });
  const fields = batch?.kind === 'batch' ? batch.points.map((point) => [...point.fields]) : [];
  expect(fields).toEqual([
    [['a', 1]],
    [
      ['a', 3],
      ['b', 4],
    ],
  ]);
  expect(task.httpOutput('o')).toMatchObject([{ values: [[expect.anything(), 4]] }]);
});

test('a window keeps the fields by which top tells names of tags', () => {
  const task = taskOf(`|window().period(10s).every(10s)|top(2, 'a', 'b')|httpOut('o')`);
  write(task, [1, { a: 1, b: 2, c: 'x' }], [2, { a: 3, b: 4, c: 'y' }], [11, { a: 0, b: 0 }]);

  expect(task.httpOutput('o')).toMatchObject([
    {
      values: [
        [expect.anything(), 1],
        [expect.anything(), 3],
      ],
    },
  ]);
});
