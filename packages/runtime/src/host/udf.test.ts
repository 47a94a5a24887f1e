import { fileURLToPath } from 'node:url';
import { buildPipeline } from '@tidemark/pipeline';
import { expect, test } from 'vitest';
import { PointBatchBuilder } from '../point-batch.ts';
import type { TapMessage, TaskSnapshot } from '../running-task.ts';
import type { UdfConnector } from '../services.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import { silentServices } from '../testing/silent-services.ts';
import { VirtualTimers } from '../timers.ts';
import { readUdfInfo } from '../udf/session.ts';
import { udfConnector } from './udf-connector.ts';

const sample = fileURLToPath(new URL('../../examples/udf-running-sum.mjs', import.meta.url));
const connector = (args: readonly string[]): UdfConnector =>
  udfConnector(
    new Map([['sum', { prog: process.execPath, args, env: {}, timeoutMs: 1000 }]]),
    () => undefined,
  );

async function makeTask(udf: UdfConnector): Promise<{ task: InlineTask; sums: unknown[] }> {
  const info = await readUdfInfo(await udf.connect('sum'));
  const script = `stream|from().groupBy('h')@sum().field('v')|where(lambda: TRUE)`;
  const { pipeline, error } = buildPipeline(script, { udfs: new Map([['sum', info]]) });
  if (pipeline === undefined) throw new Error(error?.text);
  const timers = new VirtualTimers(0n);
  const clock = {
    now: () => 0n,
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const task = createTask(pipeline, silentServices({ udf }), { taskId: 't', clock, timers });
  const sums: unknown[] = [];
  task.tap('where3', (message: TapMessage) => {
    if (message.kind !== 'point') return;
    sums.push([message.group, message.point.fields.get('sum'), message.point.tags.get('k')]);
  });
  return { task, sums };
}

const write = (rows: readonly (readonly [string, number])[]) => {
  const builder = new PointBatchBuilder('d', 'r');
  rows.forEach(([h, v], i) =>
    builder.add({
      name: 'm',
      tags: [
        ['h', h],
        ['k', 'x'],
      ],
      fields: [['v', v]],
      time: BigInt(i),
    }),
  );
  return builder.build();
};

test('a function declares its edges and options', async () => {
  const info = await readUdfInfo(await connector([sample]).connect('sum'));

  expect(info).toEqual({ wants: 'stream', provides: 'stream', options: { field: ['string'] } });
});

test('points go through a child process and come back with their groups and tags', async () => {
  const { task, sums } = await makeTask(connector([sample]));
  await task.start();

  task.push(
    write([
      ['a', 1],
      ['b', 10],
      ['a', 2],
    ]),
  );
  await task.drain();

  expect(sums).toEqual([
    ['h=a', 1, 'x'],
    ['h=b', 10, 'x'],
    ['h=a', 3, 'x'],
  ]);
  await task.close();
  expect(task.error).toBeUndefined();
});

test('a snapshot carries the state of the function over a restart', async () => {
  const first = await makeTask(connector([sample]));
  await first.task.start();
  first.task.push(write([['a', 5]]));
  await first.task.drain();
  await first.task.prepareSnapshot();
  const snapshot: TaskSnapshot = structuredClone(first.task.snapshot());
  await first.task.close();

  const second = await makeTask(connector([sample]));
  second.task.restore(snapshot);
  await second.task.start();
  second.task.push(write([['a', 1]]));
  await second.task.drain();

  expect(second.sums).toEqual([['h=a', 6, 'x']]);
  await second.task.close();
});

test('a function that dies ends its task with the reason', async () => {
  const { task } = await makeTask(connector([sample]));
  const dies = {
    ...connector([sample]),
    connect: () => connector(['-e', 'process.exit(3)']).connect('sum'),
  };
  await task.close();
  const { pipeline } = buildPipeline(`stream|from()@sum()`, {
    udfs: new Map([['sum', { wants: 'stream', provides: 'stream', options: {} }]]),
  });
  if (pipeline === undefined) throw new Error('the script is right');
  const clock = {
    now: () => 0n,
    monotonicMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  const dying = createTask(pipeline, silentServices({ udf: dies }), {
    taskId: 't',
    clock,
    timers: new VirtualTimers(0n),
  });

  await expect(dying.start()).rejects.toThrow('process exited unexpectedly: exit 3');
});
