// DELETE and DROP SERIES: the conditions they accept, and what those cover.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

const UNDER_OR =
  'comparisons of time under OR are taken as if they were joined by AND; write a statement for each range of time';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

beforeEach(async () => {
  await service.query('DROP DATABASE d; CREATE DATABASE d');
  const lines = ['cpu,host=a v=1 1', 'cpu,host=b v=2 2', 'mem,host=a v=3 3', 'disk host="x" 4'];
  await service.write(lines.join('\n'), { db: 'd' });
});

type Result = {
  readonly error?: string;
  readonly messages?: readonly { readonly level: string; readonly text: string }[];
};

async function run(q: string): Promise<Result> {
  return (await service.query(q, { db: 'd' })).json.results[0];
}

async function seriesLeft(): Promise<readonly string[]> {
  const { json } = await service.query('SHOW SERIES', { db: 'd' });
  return json.results[0].series[0].values.map(([key]: [string]) => key);
}

const ALL = ['cpu,host=a', 'cpu,host=b', 'disk', 'mem,host=a'];

describe('a condition', () => {
  test.each([
    ["DELETE FROM cpu WHERE host = 'a'", ['cpu,host=b', 'disk', 'mem,host=a']],
    ["DELETE FROM cpu WHERE 'a' = host", ['cpu,host=b', 'disk', 'mem,host=a']],
    ["DELETE FROM cpu, mem WHERE host::tag = 'a'", ['cpu,host=b', 'disk']],
    ['DELETE FROM /^[cm]/ WHERE (host =~ /a/)', ['cpu,host=b', 'disk']],
    ["DROP SERIES FROM cpu WHERE host != 'a'", ['cpu,host=a', 'disk', 'mem,host=a']],
    ["DELETE FROM cpu WHERE 'x' = 'x'", ['disk', 'mem,host=a']],
    ["DELETE FROM cpu WHERE host = 'a' AND 1 = 1", ['cpu,host=b', 'disk', 'mem,host=a']],
    ["DELETE FROM cpu WHERE 'x' = 'y'", ALL],
    ['DROP SERIES FROM cpu WHERE 1 = 1', ['disk', 'mem,host=a']],
    ["DELETE FROM absent WHERE host = 'a'", ALL],
  ])('%s', async (q, left) => {
    expect(await run(q)).toEqual({ statement_id: 0 });
    expect(await seriesLeft()).toEqual(left);
  });

  test.each([
    "DELETE WHERE host = 'a'",
    "DELETE FROM disk WHERE host != 'a'",
    "DELETE FROM cpu, disk WHERE host = 'a'",
    "DELETE FROM /./ WHERE host = 'a'",
    "DROP SERIES FROM disk WHERE host != 'a'",
    'DELETE FROM cpu WHERE v = 2',
    "DELETE FROM cpu WHERE host::field = 'a'",
    "DELETE FROM cpu WHERE host > 'a'",
  ])('%s names a field, or is none on tags, and is refused', async (q) => {
    const { error } = await run(q);

    expect(error).toMatch(/^shard \d+: fields not supported in WHERE clause during deletion$/);
    expect(await seriesLeft()).toEqual(ALL);
  });

  test.each(['time > 0', 'time >= -9223372036854775806'])(
    'DROP SERIES WHERE %s is refused',
    async (condition) => {
      const { error } = await run(`DROP SERIES WHERE ${condition}`);

      expect(error).toBe("DROP SERIES doesn't support time in WHERE clause");
      expect(await seriesLeft()).toEqual(ALL);
    },
  );
});

describe('times under OR', () => {
  test.each([
    'DELETE FROM cpu WHERE time < 1 OR time > 1',
    'SELECT v FROM cpu WHERE time < 1 OR time > 1',
    "SELECT v FROM cpu WHERE host = 'a' OR time > 1",
    'SELECT max(v) FROM (SELECT v FROM cpu WHERE time < 1 OR time > 1)',
    'SHOW TAG KEYS WHERE time < 1 OR time > 1',
  ])('are warned of: %s', async (q) => {
    expect((await run(q)).messages).toEqual([{ level: 'warning', text: UNDER_OR }]);
    expect(await seriesLeft()).toEqual(ALL);
  });

  test.each([
    'SELECT v FROM cpu WHERE time = 1 OR time = 2',
    'SELECT v FROM cpu WHERE time = 2 OR time = 1',
    'SELECT * FROM /./ WHERE time = 2 OR time = 1',
    'SELECT max(v) FROM cpu WHERE time = 2 OR time = 1 GROUP BY host',
  ])('of which each has points, without one that has both: %s', async (q) => {
    expect(await run(q)).toEqual({
      statement_id: 0,
      messages: [{ level: 'warning', text: UNDER_OR }],
    });
  });

  test.each([
    "SELECT v FROM cpu WHERE (host = 'a' AND time > 0) OR (host = 'b' AND time > 0)",
    "SELECT v FROM cpu WHERE time > 0 AND host = 'a' OR host = 'b'",
    "SELECT v FROM cpu WHERE time > 0 AND (host = 'a' OR host = 'b')",
  ])('are not where they are meant as they are read: %s', async (q) => {
    expect(await run(q)).not.toHaveProperty('messages');
  });
});
