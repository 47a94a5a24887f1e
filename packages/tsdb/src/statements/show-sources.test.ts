// SHOW statements about the schema: databases and policies in FROM, and conditions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.query(
    'CREATE DATABASE one; CREATE DATABASE two; CREATE RETENTION POLICY r2 ON one DURATION INF REPLICATION 1',
  );
  const lines = [
    'cpu,host=a,zone=x v=1 1',
    'cpu,host=b v=2,w=1 2',
    'mem,host=a f=1 1',
    'disk,zone=y g=1 1',
  ];
  await service.write(lines.join('\n'), { db: 'one' });
  await service.write('cpu,host=late u=1i 1', { db: 'one', rp: 'r2' });
  await service.write('m,host=zz k=1 1\ncpu,rack=9 v=1 1', { db: 'two' });
});
afterAll(() => service.close());

type Series = { readonly name?: string; readonly values: readonly (readonly unknown[])[] };

async function ask(q: string, db = 'one'): Promise<readonly Series[]> {
  const { json } = await service.query(q, { db });
  expect(json.results[0].error).toBeUndefined();
  return json.results[0].series ?? [];
}

/** Name and rows of each series, on a line. */
async function shown(q: string, db?: string): Promise<readonly string[]> {
  return (await ask(q, db)).map(({ name = '', values }) => `${name}: ${values.join(' ')}`);
}

describe('FROM', () => {
  test.each([
    ['SHOW FIELD KEYS FROM two..m', ['m: k,float']],
    ['SHOW SERIES FROM two..cpu', [': cpu,rack=9']],
    ['SHOW SERIES FROM two../c/, one.autogen.mem', [': cpu,rack=9 mem,host=a']],
    ['SHOW TAG KEYS FROM two..cpu', ['cpu: rack']],
    ['SHOW TAG KEYS FROM two..cpu, one..cpu', ['cpu: host rack zone']],
    ['SHOW TAG VALUES FROM two..m WITH KEY = host', ['m: host,zz']],
    [
      'SHOW TAG VALUES FROM two..m, cpu WITH KEY = host LIMIT 2',
      ['cpu: host,a host,b', 'm: host,zz'],
    ],
    ['SHOW SERIES EXACT CARDINALITY FROM two.././', ['cpu: 1', 'm: 1']],
    ['SHOW MEASUREMENT EXACT CARDINALITY FROM two.././', [': 2']],
    ['SHOW TAG KEY EXACT CARDINALITY FROM two..m', ['m: 1']],
    ['SHOW FIELD KEY EXACT CARDINALITY FROM two..m', ['m: 1']],
    ['SHOW TAG VALUES EXACT CARDINALITY FROM two..m WITH KEY = host', ['m: 1']],
  ])('names another database: %s', async (q, expected) => {
    expect(await shown(q)).toEqual(expected);
  });

  test('that names all databases needs none in the request', async () => {
    expect(await shown('SHOW SERIES FROM two..m', '')).toEqual([': m,host=zz']);
    expect(await shown('SHOW FIELD KEYS FROM two..m', '')).toEqual(['m: k,float']);
  });

  test.each([
    ['SHOW SERIES FROM r2.cpu', [': cpu,host=late']],
    ['SHOW SERIES FROM r2././', [': cpu,host=late']],
    ['SHOW SERIES FROM cpu', [': cpu,host=a,zone=x cpu,host=b cpu,host=late']],
    ['SHOW TAG KEYS FROM r2.cpu', ['cpu: host']],
    ['SHOW TAG VALUES FROM r2././ WITH KEY = host', ['cpu: host,late']],
    ['SHOW TAG VALUES FROM r2.cpu, autogen.cpu WITH KEY = host', ['cpu: host,a host,b host,late']],
    ['SHOW FIELD KEYS FROM r2.cpu', ['cpu: u,integer']],
  ])('names a policy: %s', async (q, expected) => {
    expect(await shown(q)).toEqual(expected);
  });

  test.each([
    'SHOW FIELD KEYS FROM',
    'SHOW SERIES FROM',
    'SHOW TAG KEYS FROM',
    'SHOW SERIES EXACT CARDINALITY FROM',
    'SHOW FIELD KEY EXACT CARDINALITY FROM',
    'SHOW MEASUREMENT EXACT CARDINALITY FROM',
  ])('%s refuses a database or a policy that does not exist', async (start) => {
    const errorOf = async (source: string): Promise<string> =>
      (await service.query(`${start} ${source}`, { db: 'one' })).json.results[0].error;

    expect(await errorOf('nodb..cpu')).toBe('database not found: nodb');
    expect(await errorOf('nix.cpu')).toBe('retention policy not found: nix');
    expect(await errorOf('two.r2.cpu, m')).toBe('retention policy not found: r2');
  });
});

describe('a condition', () => {
  test.each([
    ["SHOW FIELD KEY EXACT CARDINALITY WHERE host = 'zz'", []],
    ["SHOW FIELD KEY EXACT CARDINALITY WHERE host = 'b'", ['cpu: 2']],
    ['SHOW FIELD KEY CARDINALITY FROM cpu, disk WHERE zone =~ /y/', ['disk: 1']],
    ['SHOW MEASUREMENTS WHERE host !~ /./', ['measurements: disk']],
    ["SHOW MEASUREMENTS WHERE host != 'a'", ['measurements: cpu disk']],
    ["SHOW MEASUREMENTS WHERE host = 'a' AND zone = ''", ['measurements: mem']],
    ["SHOW MEASUREMENTS WHERE host = 'b' OR zone = 'y'", ['measurements: cpu disk']],
    ["SHOW MEASUREMENTS WITH MEASUREMENT =~ /m/ WHERE host = 'a'", ['measurements: mem']],
    ["SHOW MEASUREMENTS WHERE _name = 'cpu'", ['measurements: cpu']],
    ["SHOW SERIES WHERE _name != 'cpu'", [': disk,zone=y mem,host=a']],
    [
      "SHOW SERIES WHERE _name = 'cpu' AND host = 'b' OR _name =~ /^d/",
      [': cpu,host=b disk,zone=y'],
    ],
    ["SHOW TAG KEYS FROM cpu, mem WHERE _name = 'mem'", ['mem: host']],
    ["SHOW TAG VALUES WITH KEY = host WHERE _name = 'mem'", ['mem: host,a']],
    [
      "SHOW TAG VALUES WITH KEY = host WHERE _name =~ /cpu/ OR host = 'a'",
      ['cpu: host,a host,b host,late', 'mem: host,a'],
    ],
    ["SHOW SERIES EXACT CARDINALITY WHERE _name = 'cpu'", ['cpu: 2']],
    ['SHOW MEASUREMENT EXACT CARDINALITY WHERE _name !~ /m/', [': 2']],
  ])('%s', async (q, expected) => {
    expect(await shown(q)).toEqual(expected);
  });

  test.each([
    'zone !~ /x/',
    "zone != 'x'",
    'zone =~ /x/',
    'host !~ /a/',
    'host =~ /.*/',
    "none = ''",
  ])('counts what it lists: %s', async (condition) => {
    const listed = await ask(`SHOW TAG VALUES FROM autogen././ WITH KEY = host WHERE ${condition}`);
    const counted = await ask(
      `SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host WHERE ${condition}`,
    );
    const series = await ask(`SHOW SERIES FROM autogen././ WHERE ${condition}`);
    const perMeasurement = await ask(`SHOW SERIES EXACT CARDINALITY WHERE ${condition}`);
    const measurements = await ask(`SHOW MEASUREMENTS WHERE ${condition}`);

    expect(counted.map(({ name, values }) => [name, values[0]?.[0]])).toEqual(
      listed.map(({ name, values }) => [name, values.length]),
    );
    const count = perMeasurement.reduce((sum, { values }) => sum + Number(values[0]?.[0]), 0);
    expect(count).toBe(series[0]?.values.length ?? 0);
    expect(perMeasurement.map(({ name }) => name)).toEqual(
      measurements[0]?.values.map(([name]) => name) ?? [],
    );
  });
});
