// SHOW statements about the schema, over the model in memory: streamed in pieces, whatever their
// size.
import { describe, expect, test } from 'vitest';

import type { QueryContext } from '../context.ts';
import { DEFAULT_QUERY_LIMITS } from '../limits.ts';
import { isPause } from '../operator.ts';
import type { SchemaRequest, SourceSnapshot } from '../series-source.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { answer, contextOf, DATABASE, drain, execute, SECOND } from '../testing/run-statement.ts';

const SERIES = 40;
/** Series of `m` in both policies: two of the second policy's five are in the first too. */
const ALL_OF_M = SERIES + 3;
const WEEK = 604_800n * SECOND;

/**
 * Measurements `m` with 40 series and `n` with 4, `old` only in another policy, which has a part of
 * `m` too.
 */
function sourceOf(batchRows: number): MemorySource {
  const source = new MemorySource(batchRows);
  source.addPolicy(DATABASE, 'autogen', WEEK);
  source.addPolicy(DATABASE, 'other', WEEK);
  const point = (measurement: string, i: number) => ({
    measurement,
    tags: [
      ['host', `h${(i * 7) % SERIES}`],
      ['zone', i % 3 === 0 ? 'h1' : `z${i % 4}`],
    ] as const,
    fields: [[`f${i % 5}`, i % 2 === 0 ? i : BigInt(i)]] as const,
    time: BigInt(i) * WEEK,
  });
  const points = (measurement: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => point(measurement, from + i));
  source.write(DATABASE, 'autogen', [...points('m', 0, SERIES), ...points('n', 0, 4)]);
  source.write(DATABASE, 'other', [...points('m', 30, SERIES + 5), ...points('old', 0, 4)]);
  return source;
}

const POLICIES = ['autogen', 'other'];

function context(source: MemorySource, overrides: Partial<QueryContext> = {}): QueryContext {
  const catalog = {
    hasDatabase: (name: string) => name === DATABASE,
    hasRetentionPolicy: (_database: string, name: string) => POLICIES.includes(name),
    defaultRetentionPolicy: () => 'autogen',
    retentionPolicies: () => POLICIES,
  };
  return contextOf(source, { catalog, ...overrides });
}

const STATEMENTS = [
  'SHOW MEASUREMENTS',
  'SHOW MEASUREMENTS LIMIT 1 OFFSET 1',
  'SHOW MEASUREMENTS OFFSET 3',
  "SHOW MEASUREMENTS WHERE host = 'h14' OR zone != 'z2'",
  'SHOW MEASUREMENTS WITH MEASUREMENT =~ /[mn]/ WHERE host =~ /./',
  'SHOW SERIES',
  'SHOW SERIES LIMIT 7 OFFSET 38',
  'SHOW SERIES FROM n, m LIMIT 43',
  'SHOW SERIES FROM m, /./, m',
  'SHOW SERIES FROM autogen.m, other.m WHERE time > 20w',
  'SHOW SERIES FROM other././, autogen././ WHERE time > 20w OFFSET 11',
  "SHOW SERIES WHERE host =~ /h1/ AND zone != 'z1'",
  'SHOW TAG KEYS',
  'SHOW TAG KEYS FROM n, /m/ LIMIT 1 OFFSET 1',
  "SHOW TAG KEYS WHERE host = 'h0'",
  'SHOW TAG VALUES WITH KEY = host',
  'SHOW TAG VALUES WITH KEY != host LIMIT 3 OFFSET 1',
  'SHOW TAG VALUES FROM m, n, /./ WITH KEY IN (host, zone) LIMIT 5 OFFSET 38',
  "SHOW TAG VALUES WITH KEY =~ /o/ WHERE zone = 'h1'",
  'SHOW FIELD KEYS',
  'SHOW FIELD KEYS FROM autogen.m, other././ LIMIT 3 OFFSET 1',
  'SHOW SERIES CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY FROM autogen.m, other././',
  'SHOW SERIES EXACT CARDINALITY GROUP BY zone',
  'SHOW SERIES EXACT CARDINALITY WHERE host =~ /h1/ LIMIT 1',
  'SHOW SERIES EXACT CARDINALITY OFFSET 1',
  'SHOW MEASUREMENT CARDINALITY',
  'SHOW MEASUREMENT EXACT CARDINALITY FROM other././, autogen././',
  'SHOW TAG KEY EXACT CARDINALITY',
  'SHOW TAG KEY EXACT CARDINALITY FROM m, other.old GROUP BY host',
  'SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host',
  'SHOW TAG VALUES EXACT CARDINALITY WITH KEY IN (host, zone)',
  "SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host WHERE zone = 'h1'",
  'SHOW TAG VALUES EXACT CARDINALITY FROM autogen.m, other.m WITH KEY =~ /./',
  'SHOW FIELD KEY CARDINALITY',
  'SHOW FIELD KEY CARDINALITY FROM autogen.m, other.m',
  'SELECT _name, _seriesKey FROM m, n LIMIT 3 OFFSET 2',
];

describe('answers do not depend on the pieces that the source gives', () => {
  test.each(STATEMENTS)('%s', async (text) => {
    const whole = await answer(text, await context(sourceOf(1000)));

    for (const batchRows of [1, 3]) {
      expect(await answer(text, await context(sourceOf(batchRows)))).toBe(whole);
    }
    expect(whole).not.toContain('"error"');
  });

  test('LIMIT and OFFSET count the rows of each measurement, of SHOW SERIES those of all', async () => {
    const source = sourceOf(3);

    expect(
      await answer('SHOW TAG VALUES WITH KEY = host LIMIT 2 OFFSET 3', await context(source)),
    ).toBe(
      '{"results":[{"statement_id":0,"series":[' +
        '{"name":"m","columns":["key","value"],"values":[["host","h11"],["host","h12"]]},' +
        '{"name":"n","columns":["key","value"],"values":[["host","h7"]]},' +
        '{"name":"old","columns":["key","value"],"values":[["host","h7"]]}]}]}\n',
    );
    expect(await drain('SHOW SERIES LIMIT 50 OFFSET 42', await context(source))).toBe(9);
  });

  test('series come in the order of their tags, with a time in that of their keys', async () => {
    const source = new MemorySource(2);
    for (const policy of POLICIES) {
      source.addPolicy(DATABASE, policy, WEEK);
      const points = ['a b', 'a+b', 'a', 'a,b', 'a-b'].map((host) => ({
        measurement: 'm',
        tags: [
          ['host', host],
          ['zone', 'x'],
        ] as const,
        fields: [['f', 1]] as const,
        time: 0n,
      }));
      source.write(DATABASE, policy, points.slice(policy === 'other' ? 1 : 0));
    }
    const wanted =
      '"values":[["m,host=a,zone=x"],["m,host=a\\\\ b,zone=x"],["m,host=a+b,zone=x"],' +
      '["m,host=a\\\\,b,zone=x"],["m,host=a-b,zone=x"]]';

    expect(await answer('SHOW SERIES', await context(source))).toContain(wanted);
    for (const sources of ['m', 'autogen.m, other.m']) {
      const text = `SHOW SERIES FROM ${sources} WHERE time < 10`;
      expect(await answer(text, await context(source))).toContain(
        '"values":[["m,host=a+b,zone=x"],["m,host=a,zone=x"],["m,host=a-b,zone=x"],' +
          '["m,host=a\\\\ b,zone=x"],["m,host=a\\\\,b,zone=x"]]',
      );
    }
  });

  test('names in several policies are shown once', async () => {
    const both = 'SHOW SERIES FROM autogen.m, other.m WHERE time > 0';
    const cardinality = 'SHOW SERIES EXACT CARDINALITY FROM autogen.m, other.m';

    expect(await drain(both, await context(sourceOf(3)))).toBe(ALL_OF_M);
    expect(await answer(cardinality, await context(sourceOf(3)))).toContain(`[[${ALL_OF_M}]]`);
  });
});

/**
 * The requests that a statement makes, each with the number of batches that were taken of its
 * answer.
 */
async function taken(
  text: string,
  source: MemorySource,
): Promise<readonly (readonly [SchemaRequest['kind'], number])[]> {
  const requests: [SchemaRequest['kind'], number][] = [];
  const inner = source.snapshot();
  const snapshot: SourceSnapshot = {
    ...inner,
    *schema(request, options) {
      const entry: [SchemaRequest['kind'], number] = [request.kind, 0];
      requests.push(entry);
      for (const batch of inner.schema(request, options)) {
        if (!isPause(batch)) entry[1]++;
        yield batch;
      }
    },
  };
  await drain(text, await context(source, { snapshot }));
  return requests;
}

describe('no more is held than a piece', () => {
  test.each(['SHOW SERIES', 'SHOW TAG VALUES WITH KEY = host', 'SHOW SERIES FROM m, n'])(
    '%s hands on each piece as it comes',
    async (text) => {
      let count = 0;
      for await (const { rowCount } of execute(text, await context(sourceOf(3)))) {
        expect(rowCount).toBeLessThanOrEqual(3);
        count++;
      }

      expect(count).toBeGreaterThan(SERIES / 3);
    },
  );

  test.each([
    ['SHOW SERIES LIMIT 4', [['series', 2]]],
    ['SHOW SERIES FROM m, n LIMIT 4', [['series', 2]]],
    ['SHOW TAG VALUES FROM m WITH KEY = host LIMIT 2 OFFSET 2', [['tag-values', 2]]],
    ['SHOW SERIES EXACT CARDINALITY', [['series-cardinality', 2]]],
    ['SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host', [['tag-cardinality', 2]]],
  ] as const)('%s reads no more than it needs', async (text, wanted) => {
    expect(await taken(text, sourceOf(3))).toEqual(wanted);
  });

  test.each([
    'SHOW TAG VALUES EXACT CARDINALITY WITH KEY IN (host, zone)',
    'SHOW SERIES EXACT CARDINALITY GROUP BY host',
    'SHOW SERIES EXACT CARDINALITY FROM autogen.m, other.m',
    'SHOW MEASUREMENT EXACT CARDINALITY',
    'SHOW MEASUREMENTS WHERE host =~ /./',
    'SHOW SERIES FROM m, n',
  ])('the memory of %s counts the names it remembers', async (text) => {
    const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 60 };
    const work = drain(text, await context(sourceOf(3), { limits }));

    await expect(work).rejects.toThrow('query-memory-limit exceeded');
  });
});
