// influxDBOut: writes to a database.
import { TestClock } from '@tidemark/testkit';
import { taskTests } from '@tidemark/testkit/task-tests';
import { expect, test } from 'vitest';
import type { DatabaseWrite, TaskServices } from '../services.ts';
import { continueIn, never, pushValues, taskOf } from '../testing/continued-task.ts';

taskTests(`
test points are written when the buffer is full, and what is left at the end
script
    stream|from().measurement('m')
        |influxDBOut().database('x').retentionPolicy('y').measurement('z').tag('t', '1').buffer(2)
write
    m v=1 0
writes
write
    m v=2 1
writes
    x.y z,t=1 v=1 0
    x.y z,t=1 v=2 1000000000
write
    m v=3 2
finish
writes
    x.y z,t=1 v=3 2000000000
`);

const database = (write: (of: DatabaseWrite) => Promise<void>): TaskServices['database'] => ({
  write,
  execute: () => Promise.resolve(),
  query: () => Promise.resolve([]),
});

test.each([
  ['those that are being written are written at once', 2],
  ['others wait for their interval', 5],
])('of the points of a continued task, %s', async (_what, size) => {
  const script = `stream|from()|influxDBOut().database('out').buffer(${size}).flushInterval(10s)`;
  const hanging = taskOf(script, { database: database(never) }, new TestClock());
  await hanging.start();
  pushValues(hanging, [1, 2, 3]);

  const clock = new TestClock();
  const written: DatabaseWrite[] = [];
  const writing = database((of) => {
    written.push(of);
    return Promise.resolve();
  });
  const next = taskOf(script, { database: writing }, clock);
  await continueIn(next, hanging);
  if (size === 5) expect(written).toEqual([]);
  else expect(written).toHaveLength(1);
  await clock.advance(10_000);
  await next.drain();

  expect(written).toMatchObject([{ database: 'out', retentionPolicy: 'r' }]);
  const values = (): unknown[] =>
    written.flatMap(({ points }) => points.map(({ fields }) => fields.get('v')));
  expect(values()).toEqual([1, 2, 3]);
  expect(JSON.stringify((await next.takeState()) as object)).not.toContain('out');
  pushValues(next, [4]);
  await next.close();
  expect(values()).toEqual([1, 2, 3, 4]);
});
