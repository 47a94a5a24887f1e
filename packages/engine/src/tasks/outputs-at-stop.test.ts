// What tasks still have to write and post when the engine stops.
import { setTimeout as sleep } from 'node:timers/promises';
import { TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';

let receiver: TestServer;
let engine: TestEngine;

beforeEach(async () => {
  receiver = new TestServer();
  await receiver.open();
  engine = new TestEngine();
});

afterEach(async () => {
  await engine.close();
  await receiver.close();
});

const start = (): Promise<void> =>
  engine.start({
    // States are saved at the stop only.
    task: { hosts: '1', 'snapshot-interval': '1h' },
    tsdb: [{ name: 'main', default: true, urls: [receiver.url], 'disable-subscriptions': true }],
  });

async function define(script: string): Promise<void> {
  const dbrp = { db: 'd', rp: 'r' };
  expect(await engine.startTask('one', script, dbrp)).toMatchObject({ status: 200 });
}

async function write(lines: string): Promise<void> {
  const { status } = await engine.call('POST', '/engine/v1/write?db=d&rp=r', lines);
  expect(status).toBe(204);
}

const bodies = (path: string): readonly string[] =>
  receiver.requests.filter((one) => one.path.startsWith(path)).map(({ body }) => body.trim());

const posted = (): readonly unknown[] =>
  bodies('/posted').map((body) => JSON.parse(body).series[0].values[0].at(-1));

test('a stop writes what is buffered and waits for answers, so that the next start repeats nothing', async () => {
  receiver.answer = async ({ path }) => {
    if (path === '/posted') await sleep(300);
    return {};
  };
  await start();
  await define(`var data = stream|from().measurement('m')
data|influxDBOut().database('o').retentionPolicy('r').flushInterval(1h)
data|httpPost('${receiver.url}/posted')`);
  await write('m v=1 1\nm v=2 2');
  await receiver.until(() => posted().length > 0);

  await engine.stop();
  await start();
  const disabled = await engine.call('PATCH', '/engine/v1/tasks/one', { status: 'disabled' });
  expect(disabled).toMatchObject({ status: 200 });

  expect(bodies('/write').flatMap((body) => body.split('\n'))).toEqual(['m v=1 1', 'm v=2 2']);
  expect(posted()).toEqual([1, 2]);
});

test('a post without an answer does not keep the state from being saved, and is sent again', async () => {
  receiver.answer = ({ path }) => (path === '/posted' ? new Promise(() => undefined) : {});
  await start();
  await define(
    `stream|from().measurement('m')|eval(lambda: count()).as('n').keep('n')|httpPost('${receiver.url}/posted')|httpOut('counted')`,
  );
  await write('m v=1 1\nm v=2 2');
  await receiver.until(() => posted().length > 0);

  await engine.stop();
  receiver.answer = () => ({});
  await start();
  await write('m v=3 3');

  await receiver.until(() => posted().length === 4);
  expect(posted()).toEqual([1, 1, 2, 3]);
});
