// What a task has not written, or has no answer to, is in its state: where it is continued, that is
// written and posted.
import { buildPipeline } from '@tidemark/pipeline';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { PointBatchBuilder } from '../point-batch.ts';
import type { DatabaseWrite, TaskServices } from '../services.ts';
import { createTask } from '../task.ts';
import type { InlineTask } from '../task.ts';
import { silentServices } from '../testing/silent-services.ts';

const never = (): Promise<never> => new Promise(() => undefined);

function taskOf(
  script: string,
  services: Partial<TaskServices>,
  clock = new TestClock(),
): InlineTask {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  return createTask(pipeline, silentServices(services), { taskId: 't', clock });
}

function push(task: InlineTask, values: readonly number[]): void {
  const builder = new PointBatchBuilder('d', 'r');
  for (const v of values)
    builder.add({ name: 'm', tags: [['h', 'a']], fields: [['v', v]], time: BigInt(v) });
  task.push(builder.build());
}

/** Continues from the state of a task whose thread has ended. */
async function continued(task: InlineTask, next: InlineTask): Promise<InlineTask> {
  next.restore(structuredClone(await task.takeState()));
  await next.start();
  return next;
}

const database = (write: (of: DatabaseWrite) => Promise<void>): TaskServices['database'] => ({
  write,
  execute: () => Promise.resolve(),
  query: () => Promise.resolve([]),
});

test('points that wait for their interval, and those that are being written, are written', async () => {
  const script = `stream|from()|influxDBOut().database('out').buffer(2).flushInterval(10s)`;
  const hanging = taskOf(script, { database: database(never) });
  await hanging.start();
  push(hanging, [1, 2, 3]);

  const clock = new TestClock();
  const written: DatabaseWrite[] = [];
  const writing = database((of) => {
    written.push(of);
    return Promise.resolve();
  });
  const next = await continued(hanging, taskOf(script, { database: writing }, clock));
  expect(written).toEqual([]);
  await clock.advance(10_000);
  await next.drain();

  expect(written).toMatchObject([{ database: 'out', retentionPolicy: 'r' }]);
  const values = (): unknown[] =>
    written.flatMap(({ points }) => points.map(({ fields }) => fields.get('v')));
  expect(values()).toEqual([1, 2, 3]);
  expect(JSON.stringify((await next.takeState()) as object)).not.toContain('out');
  push(next, [4]);
  await next.close();
  expect(values()).toEqual([1, 2, 3, 4]);
});

test.each(['', `.codeField('code')`])(
  'posts without an answer are sent again: %s',
  async (code) => {
    const script = `stream|from()|httpPost('http://sink')${code}|httpOut('o')`;
    const endpoint = (): undefined => undefined;
    const hanging = taskOf(script, { http: { send: never, endpoint } });
    await hanging.start();
    push(hanging, [1, 2]);

    const bodies: string[] = [];
    const send: TaskServices['http']['send'] = ({ body }) => {
      bodies.push(body);
      return Promise.resolve({ status: 204, body: '' });
    };
    const next = await continued(hanging, taskOf(script, { http: { send, endpoint } }));
    await next.drain();

    expect(bodies.map((body) => JSON.parse(body).series[0].values[0].at(-1))).toEqual([1, 2]);
    const columns = code === '' ? ['time', 'v'] : ['time', 'code', 'v'];
    expect(next.httpOutput('o')).toMatchObject([{ columns }]);
    await next.close();
    expect(bodies).toHaveLength(2);
  },
);
