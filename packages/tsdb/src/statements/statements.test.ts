// Statements whose results depend on the state of the service, which recorded cases cannot cover:
// shards, statistics, diagnostics, queries, subscriptions; and bound values in every kind of
// position.
import { TestClock } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

type Series = {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
};

// 2024-01-10T00:00:00Z, a Wednesday.
const NOW = 1_704_844_800_000_000_000n;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ clock: new TestClock(NOW) });
  await service.query('CREATE DATABASE d WITH DURATION 30d SHARD DURATION 1d NAME days');
  const lines = ['m,host=a v=1,n=1i 1704844800', 'm,host=b v=2,n=2i 1704758400'];
  await service.write(lines.join('\n'), { db: 'd', precision: 's' });
});
afterAll(() => service.close());

async function ask(q: string, parameters: Record<string, string> = {}): Promise<readonly Series[]> {
  const { json } = await service.query(q, { db: 'd', ...parameters });
  expect(json.results[0].error).toBeUndefined();
  return json.results[0].series ?? [];
}

describe('shards', () => {
  test('SHOW SHARDS tells what each holds and when it expires', async () => {
    const [first] = await ask('SHOW SHARDS');

    expect(first?.name).toBe('d');
    expect(first?.columns).toEqual([
      'id',
      'database',
      'retention_policy',
      'shard_group',
      'start_time',
      'end_time',
      'expiry_time',
      'owners',
    ]);
    expect(first?.values.map((row) => row.slice(1))).toEqual([
      ['d', 'days', ...times('09')],
      ['d', 'days', ...times('10')],
    ]);

    function times(day: '09' | '10'): readonly unknown[] {
      const next = day === '09' ? '10' : '11';
      const expiry = day === '09' ? '2024-02-09' : '2024-02-10';
      const at = (date: string): string => `${date}T00:00:00Z`;
      return [expect.any(Number), at(`2024-01-${day}`), at(`2024-01-${next}`), at(expiry), ''];
    }
  });

  test('SHOW SHARD GROUPS lists them in one series', async () => {
    const [groups] = await ask('SHOW SHARD GROUPS');

    expect(groups?.name).toBe('shard groups');
    expect(groups?.columns).toEqual([
      'id',
      'database',
      'retention_policy',
      'start_time',
      'end_time',
      'expiry_time',
    ]);
    expect(groups?.values.map((row) => row[3])).toEqual([
      '2024-01-09T00:00:00Z',
      '2024-01-10T00:00:00Z',
    ]);
  });

  test('DROP SHARD takes its points away, of an unknown id it is no error', async () => {
    await service.query('CREATE DATABASE dropped');
    await service.write('m v=1 0\nm v=2 1704844800', { db: 'dropped', precision: 's' });
    const [shards] = (await ask('SHOW SHARDS')).filter(({ name }) => name === 'dropped');
    await ask(`DROP SHARD ${String(shards?.values[0]?.[0])}`);

    const [left] = await ask('SELECT v FROM m', { db: 'dropped' });
    expect(left?.values).toEqual([['2024-01-10T00:00:00Z', 2]]);
    expect(await ask('DROP SHARD 123456')).toEqual([]);
  });
});

describe('the service about itself', () => {
  test('SHOW STATS has modules with their counters by name', async () => {
    await service.query('CREATE DATABASE unwritten');
    const all = await ask('SHOW STATS');

    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['database', 'httpd', 'queryExecutor', 'runtime', 'shard', 'write']),
    );
    for (const { columns, values } of all) {
      expect(columns).toEqual(columns.toSorted());
      expect(values).toHaveLength(1);
    }
    const database = all.find(
      ({ name, tags }) => name === 'database' && tags?.['database'] === 'd',
    );
    expect(database?.columns).toEqual(['lastWriteMs', 'numMeasurements', 'numSeries']);
    expect(database?.values).toEqual([[1_704_844_800_000, 1, 2]]);
    const unwritten = all.find(({ tags }) => tags?.['database'] === 'unwritten');
    expect(unwritten?.columns).toEqual(['numMeasurements', 'numSeries']);
  });

  test('SHOW STATS FOR a module has that one only', async () => {
    expect((await ask("SHOW STATS FOR 'write'")).map(({ name }) => name)).toEqual(['write']);
    const [indexes] = await ask("SHOW STATS FOR 'indexes'");
    expect(indexes?.columns).toEqual(['memoryBytes']);
  });

  test('SHOW DIAGNOSTICS has modules in order, FOR one of them only that', async () => {
    const names = (await ask('SHOW DIAGNOSTICS')).map(({ name }) => name);

    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(
      expect.arrayContaining(['build', 'config', 'network', 'runtime', 'system']),
    );
    expect((await ask("SHOW DIAGNOSTICS FOR 'build'")).map(({ name }) => name)).toEqual(['build']);
  });

  test('SHOW QUERIES shows itself', async () => {
    const [queries] = await ask('SHOW QUERIES');

    expect(queries?.columns).toEqual(['qid', 'query', 'database', 'duration', 'status']);
    expect(queries?.values).toEqual([
      [
        expect.any(Number),
        'SHOW QUERIES',
        'd',
        expect.stringMatching(/^[\d.]+(ns|µs|ms|s)$/),
        'running',
      ],
    ]);
  });

  test('EXPLAIN ANALYZE counts what storage has read', async () => {
    const [analysis] = await ask("EXPLAIN ANALYZE SELECT v FROM m WHERE host = 'a'");
    const lines = analysis?.values.map(([line]) => String(line)) ?? [];

    expect(analysis?.columns).toEqual(['EXPLAIN ANALYZE']);
    for (const counter of ['series_visited: 1', 'rows_read: 1']) {
      expect(lines.filter((line) => line.includes(counter))).toHaveLength(2);
    }
    expect(lines.join('\n')).toMatch(
      /scan d\.days\.m: total [\d.]+ms, own [\d.]+ms, 1 batches, 1 rows/,
    );
  });
});

test('subscriptions are made, shown and dropped', async () => {
  await ask(
    "CREATE SUBSCRIPTION s ON d.days DESTINATIONS ANY 'udp://127.0.0.1:9', 'http://me:h@u@127.0.0.1:19'",
  );
  const [shown] = await ask('SHOW SUBSCRIPTIONS');
  await ask('DROP SUBSCRIPTION s ON d.days');

  expect(shown).toEqual({
    name: 'd',
    columns: ['retention_policy', 'name', 'mode', 'destinations'],
    values: [['days', 's', 'ANY', ['udp://127.0.0.1:9', 'http://me:[REDACTED]@127.0.0.1:19']]],
  });
  expect(await ask('SHOW SUBSCRIPTIONS')).toEqual([]);
});

describe('a bound value', () => {
  test.each([
    ['a string', 'SELECT v FROM m WHERE host = $x', { x: 'a' }, 1],
    ['{"string"}', 'SELECT v FROM m WHERE host = $x', { x: { string: 'a' } }, 1],
    ['an integer', 'SELECT v FROM m WHERE n = $x', { x: 2 }, 1],
    ['{"integer"}', 'SELECT v FROM m WHERE n >= $x', { x: { integer: 1 } }, 2],
    ['a float', 'SELECT v FROM m WHERE v > $x', { x: 1.5 }, 1],
    ['{"float"}', 'SELECT v FROM m WHERE v > $x', { x: { float: 0 } }, 2],
    ['a boolean', 'SELECT v FROM m WHERE $x', { x: true }, 2],
    ['{"regex"}', 'SELECT v FROM m WHERE host =~ $x', { x: { regex: '^[ab]$' } }, 2],
    ['{"regex"} as a source', 'SELECT v FROM $x', { x: { regex: '^m$' } }, 2],
    ['{"identifier"} as a field', 'SELECT $x FROM m', { x: { identifier: 'v' } }, 2],
    ['{"identifier"} as a source', 'SELECT v FROM $x', { x: { identifier: 'm' } }, 2],
    [
      '{"duration"} as text',
      'SELECT v FROM m WHERE time > now() - $x',
      { x: { duration: '1h' } },
      1,
    ],
    [
      '{"duration"} in nanoseconds',
      'SELECT v FROM m WHERE time >= $x',
      { x: { duration: 1.704844801e18 } },
      0,
    ],
    ['a time', 'SELECT v FROM m WHERE time < $x', { x: '2024-01-09T12:00:00Z' }, 1],
    ['an integer as LIMIT', 'SELECT v FROM m LIMIT $x', { x: 1 }, 1],
  ])('%s', async (_name, q, params, count) => {
    const [series] = await ask(q, { params: JSON.stringify(params) });
    expect(series?.values.length ?? 0).toBe(count);
  });

  test('{"duration"} as a window', async () => {
    const q = 'SELECT count(v) FROM m WHERE time <= now() GROUP BY time($x) fill(none)';
    const [series] = await ask(q, { params: '{"x": {"duration": "1d"}}' });
    expect(series?.values).toHaveLength(2);
  });

  test.each([
    [{ x: null }, 'missing parameter: unable to bind parameter with type <nil>'],
    [{ x: ['a'] }, 'unable to bind parameter with type []interface {}'],
    [{ x: { foo: 1 } }, 'unknown bind object type: foo'],
    [{ x: { a: 1, b: 2 } }, 'bound object parameter value must have exactly one entry'],
    [{}, 'missing parameter: x'],
  ])('%j cannot be bound', async (params, text) => {
    const q = 'SELECT v FROM m WHERE v = $x';
    const { status, json } = await service.query(q, { db: 'd', params: JSON.stringify(params) });

    expect(status).toBe(400);
    expect(json.error).toMatch(/^error parsing query: /);
    expect(json.error).toContain(text);
  });

  test('cannot change the statement around it', async () => {
    const params = JSON.stringify({ x: "a' OR host = 'b" });
    expect(await ask('SELECT v FROM m WHERE host = $x', { params })).toEqual([]);
  });
});

describe('names without a database in a continuous query', () => {
  const create =
    'CREATE CONTINUOUS QUERY c ON other BEGIN SELECT mean(v) INTO n FROM m GROUP BY time(1h) END';

  test.each([
    [{ db: 'd' }, 'INTO d.days.n FROM d.days.m'],
    [{ db: 'd', rp: 'r2' }, 'INTO d.r2.n FROM d.r2.m'],
    [{ db: '' }, 'INTO other.autogen.n FROM other.autogen.m'],
  ])('lie where the request %j says', async (parameters, names) => {
    await ask('CREATE DATABASE other');
    await ask('CREATE RETENTION POLICY r2 ON d DURATION INF REPLICATION 1');
    await ask(create, parameters as Record<string, string>);
    const shown = (await ask('SHOW CONTINUOUS QUERIES')).find(({ name }) => name === 'other');
    await ask('DROP DATABASE other');

    expect(shown?.values[0]?.[1]).toContain(names);
  });
});
