// An engine that was killed while the database continued: tasks get the points they missed, and no
// alert is delivered twice.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  eventually,
  makeDirectory,
  removeDirectory,
  startTidemark,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const DBRPS = [{ db: 'd', rp: 'autogen' }];
const COUNT = `stream|from().measurement('m').groupBy('h')|eval(lambda: count(), lambda: "i" + 1).as('n', 'next')|httpOut('o')`;

let directories: string[] = [];
let database: Tidemark;
let engine: Tidemark;
/**
 * A delivery that was interrupted by the kill is repeated: the same event may come again from the
 * outbox.
 */
const told = new Set<string>();
const receiver = new TestServer(({ body }) => {
  const { id, level, time } = JSON.parse(body) as Record<'id' | 'level' | 'time', string>;
  told.add(`${id} ${level} ${new Date(time).toISOString()}`);
  return {};
});

/** Other processes may have the cores for themselves. */
const WAIT_MS = 60_000;

async function startEngine(): Promise<void> {
  const [, directory = ''] = directories;
  const args = ['--config', join(directory, 'engine.conf')];
  engine = await startTidemark({ command: 'engine', directory, args });
}

beforeAll(async () => {
  directories = [await makeDirectory(), await makeDirectory()];
  database = await startTidemark({ command: 'tsdb', directory: directories[0] });
  await receiver.open();
  const config = `hostname = "127.0.0.1"
[stats]
enabled = false
[task]
catch-up = "1h"
missed-runs = "all"
snapshot-interval = "1h"
[[tsdb]]
name = "default"
default = true
urls = ["${database.tsdb}"]
subscriptions-sync-interval = "100ms"
`;
  await writeFile(join(directories[1] ?? '', 'engine.conf'), config);
  await fetch(`${database.tsdb}/query`, {
    method: 'POST',
    body: new URLSearchParams({ q: 'CREATE DATABASE d' }),
  });
  await startEngine();
}, 120_000);

afterAll(async () => {
  await receiver.close();
  await engine.kill();
  await database.kill();
  await Promise.all(directories.map(removeDirectory));
});

async function define(id: string, script: string): Promise<void> {
  const response = await fetch(`${engine.engine}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({ id, dbrps: DBRPS, script, status: 'enabled' }),
  });
  expect({ id, status: response.status }).toEqual({ id, status: 200 });
}

/** Counts by host, with the last integer plus one. */
async function counts(): Promise<Record<string, unknown>> {
  const response = await fetch(`${engine.engine}/engine/v1/tasks/count/o`);
  const { series } = (await response.json()) as {
    series?: { tags: { h: string }; columns: string[]; values: unknown[][] }[];
  };
  return Object.fromEntries(
    (series ?? []).map(({ tags, columns, values }) => [
      tags.h,
      [values[0]?.[columns.indexOf('n')], values[0]?.[columns.indexOf('next')]],
    ]),
  );
}

/** The task has counted so much, whatever the order in which that became visible. */
async function untilCounts(expected: Record<string, unknown>): Promise<void> {
  let last: unknown;
  try {
    await eventually(
      'the counts',
      async () => {
        last = await counts();
        return JSON.stringify(last) === JSON.stringify(expected) ? true : undefined;
      },
      WAIT_MS,
    );
  } catch {
    // The difference says more than that time is up.
    expect(last).toEqual(expected);
  }
}

test(
  'a killed engine goes on as if it had not been, and tells every change once',
  { timeout: 300_000 },
  async () => {
    const { port } = receiver;
    const alert = `alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 10.0).stateChangesOnly().post('http://127.0.0.1:${port}')`;
    await define('count', COUNT);
    await define('alert', `stream|from().measurement('m').groupBy('h')|${alert}`);
    // The clock of the test may be a moment behind that of the tasks.
    const start = BigInt(Date.now() + 1) * 1_000_000n;
    let i = 0;
    const point = async (host: string, v: number): Promise<string> => {
      const time = start + BigInt(i++) * 1_000_000n;
      const line = `m,h=${host} v=${v},i=${9_007_199_254_740_993n + BigInt(i)}i ${time}`;
      await write(database.tsdb, 'd', line);
      return new Date(Number(time / 1_000_000n)).toISOString();
    };
    const subscribed = async (): Promise<true | undefined> => {
      const q = new URLSearchParams({ q: 'SHOW SUBSCRIPTIONS' });
      const answer = await fetch(`${database.tsdb}/query?${q.toString()}`);
      return (await answer.text()).includes(new URL(engine.engine).port) ? true : undefined;
    };
    await eventually('the subscription', subscribed, WAIT_MS);

    const first = await point('a', 20);
    const second = await point('a', 1);
    const third = await point('b', 30);
    await eventually('three events', async () => (told.size >= 3 ? true : undefined), WAIT_MS);
    await engine.kill();
    await point('a', 2);
    const fourth = await point('a', 25);
    const fifth = await point('b', 3);
    await point('c', 1);
    await startEngine();
    await untilCounts({
      a: [4, Number(9_007_199_254_740_993n + 6n)],
      b: [2, Number(9_007_199_254_740_993n + 7n)],
      c: [1, Number(9_007_199_254_740_993n + 8n)],
    });
    const sixth = await point('a', 1);
    await eventually('six events', async () => (told.size >= 6 ? true : undefined), WAIT_MS);

    await untilCounts({
      a: [5, Number(9_007_199_254_740_993n + 9n)],
      b: [2, Number(9_007_199_254_740_993n + 7n)],
      c: [1, Number(9_007_199_254_740_993n + 8n)],
    });
    // Since the start: the three that were missed or are new, none of the three that were told
    // before.
    const topics = await fetch(`${engine.engine}/engine/v1preview/alerts/topics/main:alert:alert2`);
    expect(await topics.json()).toMatchObject({ collected: 3, level: 'OK' });
    expect([...told].sort()).toEqual(
      [
        `a CRITICAL ${first}`,
        `a OK ${second}`,
        `b CRITICAL ${third}`,
        `a CRITICAL ${fourth}`,
        `b OK ${fifth}`,
        `a OK ${sixth}`,
      ].sort(),
    );
  },
);
