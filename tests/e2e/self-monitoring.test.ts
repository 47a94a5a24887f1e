// A fresh start has real data to query and to alert on: both services write their own measurements.
import { eventually, query, removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark({
    args: ['--database-monitor-store-interval', '1s', '--engine-stats-stats-interval', '1s'],
  });
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

test('the database writes its counters to _internal', async () => {
  const [series] = await eventually('own measurements of the database', async () => {
    const found = await query(server.tsdb, 'SELECT last(pointReq) FROM "write"', '_internal').catch(
      () => [],
    );
    return found.length > 0 ? found : undefined;
  });
  expect(Number(series?.values?.[0]?.[1])).toBeGreaterThanOrEqual(0);

  const measurements = (await query(server.tsdb, 'SHOW MEASUREMENTS', '_internal'))[0]?.values?.map(
    ([name]) => name,
  );
  expect(measurements).toEqual(
    expect.arrayContaining(['httpd', 'queryExecutor', 'runtime', 'write', 'shard']),
  );
});

test('the engine writes its task counters there, too', async () => {
  await send(`${server.engine}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({
      id: 'watch',
      type: 'stream',
      dbrps: [{ db: '_internal', rp: 'monitor' }],
      script: "stream|from().measurement('write')|log()",
      status: 'enabled',
    }),
  });

  const rows = await eventually(
    'counters of the task',
    async () => {
      const found = await query(
        server.tsdb,
        "SELECT last(collected) FROM nodes WHERE task = 'watch'",
        '_internal',
      ).catch(() => []);
      return found.length > 0 ? found : undefined;
    },
    30_000,
  );
  expect(rows[0]?.columns).toEqual(['time', 'last']);
}, 60_000);

test("a task alerts on the database's own counters, which reach it by subscription", async () => {
  const script =
    "stream|from().measurement('runtime')|alert().id('up').crit(lambda: TRUE).stateChangesOnly().topic('self')";
  const defined = await send(`${server.engine}/engine/v1/tasks`, {
    method: 'POST',
    body: JSON.stringify({
      id: 'self',
      type: 'stream',
      dbrps: [{ db: '_internal', rp: 'monitor' }],
      script,
      status: 'enabled',
    }),
  });
  expect(defined.status, defined.text).toBe(200);

  const event = await eventually(
    'the event',
    async () => {
      const answer = await send(`${server.engine}/engine/v1preview/alerts/topics/self/events/up`);
      return answer.status === 200
        ? (JSON.parse(answer.text) as { state: { level: string } })
        : undefined;
    },
    90_000,
  );
  expect(event.state.level).toBe('CRITICAL');
}, 100_000);
