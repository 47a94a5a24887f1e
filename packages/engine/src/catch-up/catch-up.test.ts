// The engine after a restart, with a database that has the missed points: what tasks receive, and
// what the API shows.
import { eventually, PointDatabase } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];
/** Other processes may have the cores for themselves. */
const WAIT_MS = 60_000;

let database: PointDatabase;
let url = '';
let engine: TestEngine;

beforeEach(async () => {
  database = new PointDatabase();
  url = await database.open();
  engine = new TestEngine();
});

afterEach(async () => {
  await engine.close();
  await database.close();
});

const start = (task: object): Promise<void> =>
  engine.start({
    task,
    tsdb: [{ name: 'main', default: true, urls: [url], 'disable-subscriptions': true }],
  });

async function define(id: string, script: string): Promise<void> {
  const task = { id, dbrps: DBRPS, script, status: 'enabled' };
  expect(await engine.call('POST', '/engine/v1/tasks', task)).toMatchObject({ status: 200 });
}

/** The task when it fits. */
const task = (fits: (answer: any) => boolean): Promise<any> =>
  eventually(
    'the task',
    async () => {
      const { json } = await engine.call('GET', '/engine/v1/tasks/t');
      return fits(json) ? (json as unknown) : undefined;
    },
    WAIT_MS,
  );

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

test(
  'a task is given what the database has, with the types that it was written with',
  { timeout: 300_000 },
  async () => {
    await start({ 'catch-up': '1h' });
    await define(
      't',
      "stream|from().measurement('m').groupBy('h')|eval(lambda: count(), lambda: \"i\" / 2, lambda: \"f\" / 2.0, lambda: if(\"b\", \"s\", '')).as('n', 'i', 'f', 's')|httpOut('o')",
    );
    // The clock of the test may be a moment behind that of the task.
    const time = now() + 1_000_000n;
    await engine.call('POST', '/write?db=d&rp=r', `m,h=a i=1i,f=2,b=true,s="x" ${time}`);
    database.points.push({
      measurement: 'm',
      host: 'a',
      time,
      fields: { i: 1n, f: 2, b: true, s: 'x' },
    });
    const { port } = database;
    await engine.stop();
    database.points.push({
      measurement: 'm',
      host: 'a',
      time: time + 1n,
      fields: { i: 9_007_199_254_740_995n, f: 3, b: true, s: 'y' },
    });
    await database.close();
    await start({ 'catch-up': '1h' });

    expect(await task(({ error }) => error !== '')).toMatchObject({
      error: expect.stringMatching(/^catching up: GET http.*ECONNREFUSED/),
      executing: true,
    });
    // It waits for what was missed before it.
    const line = `m,h=a i=8i,f=5,b=false,s="z" ${time + 2n}`;
    expect(await engine.call('POST', '/write?db=d&rp=r', line)).toMatchObject({ status: 204 });
    await database.open(port);
    const live = await task(({ stats }) => stats['task-stats'].caught_up === 1);

    expect(live).toMatchObject({ error: '', executing: true });
    const rows = await eventually(
      'the last point',
      async () => {
        const { json } = await engine.call('GET', '/engine/v1/tasks/t/o');
        return json.series[0].values[0][json.series[0].columns.indexOf('n')] === 3
          ? (json.series[0] as { columns: string[]; values: unknown[][] })
          : undefined;
      },
      WAIT_MS,
    );
    const row = Object.fromEntries(rows.columns.map((name, i) => [name, rows.values[0]?.[i]]));
    expect(row).toMatchObject({ n: 3, i: 4, f: 2.5, s: '' });
    const { json } = await engine.call('GET', '/engine/v1/tasks/t');
    expect(json.stats['node-stats'].eval2).toMatchObject({ errors: 0 });
  },
);

test('a batch task asks what was due while the engine was down', { timeout: 300_000 }, async () => {
  const asked = (): readonly string[] => database.queries.filter((q) => q.startsWith('SELECT v'));
  const ranges = (): readonly bigint[] =>
    asked().map((q) => BigInt(Date.parse(/time < '([^']+)'/.exec(q)?.[1] ?? '')));
  await start({ 'missed-runs': 'all' });
  await define(
    't',
    'batch|query(\'SELECT v FROM "d"."r"."m"\').period(10s).every(200ms).align()|log()',
  );
  await eventually('a run', async () => (asked().length > 0 ? true : undefined), WAIT_MS);
  await engine.stop();
  const before = asked().length;
  const last = ranges().at(-1) ?? 0n;
  // A few ticks pass.
  await eventually(
    'time',
    async () => (BigInt(Date.now()) > last + 1_000n ? true : undefined),
    WAIT_MS,
  );
  await start({ 'missed-runs': 'all' });
  await eventually('runs', async () => (asked().length > before + 6 ? true : undefined), WAIT_MS);

  // One that was on its way at the stop has been asked twice.
  const made = [...new Set(ranges().slice(before))].filter((tick) => tick > last);
  expect(made.slice(0, 5)).toEqual([200n, 400n, 600n, 800n, 1_000n].map((ms) => last + ms));
  await task(({ stats }) => stats['task-stats'].caught_up >= 4);
});
