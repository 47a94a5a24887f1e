// The plan cache: statements repeated with other times and values, or after a change, have the same
// results as without the cache.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;

beforeAll(async () => {
  // Continuous queries run when a test asks for it only: plans are counted.
  service = await startTestService({ sections: { continuous_queries: { enabled: false } } });
  await service.query(
    'CREATE DATABASE db; CREATE RETENTION POLICY other ON db DURATION INF REPLICATION 1',
  );
  const days = ['02', '09', '16', '23'];
  const lines = days.flatMap((day, i) => {
    const at = BigInt(Date.parse(`2026-03-${day}T10:00:00Z`)) * 1_000_000n;
    const second = (n: number): bigint => at + BigInt(n) * 1_000_000_000n;
    return [
      `m,h=a f=${i},g=${i}i ${second(0)}`,
      `m,h=b f=${i}.5,late${i}=true ${second(70)}`,
      `n,h=a,z=${i} f=${i * 10} ${second(130)}`,
    ];
  });
  await service.write(lines.join('\n'), { db: 'db' });
});

afterAll(() => service.close());

let asked = 0;

/** The answer to a text with a new shape: empty statements encode a number. */
async function unknown(text: string, parameters: Record<string, string>): Promise<string> {
  const number = (asked++).toString(2).replaceAll('1', ' ;').replaceAll('0', ';');
  return (await service.query(`${text} ${number}`, parameters)).text;
}

async function check(
  texts: readonly string[],
  parameters: Record<string, string> = { db: 'db' },
): Promise<void> {
  for (const text of [...texts, ...texts]) {
    // Findings have their places in the text that was sent.
    for (const more of [{}, { diagnostics: 'true' }, { diagnostics: 'true', chunked: 'true' }]) {
      const { text: answer } = await service.query(text, { ...parameters, ...more });
      expect(answer, text).toBe(await unknown(text, { ...parameters, ...more }));
    }
  }
}

const DAYS = ['2026-03-02', '2026-03-09', '2026-03-16', '2026-03-23', '2030-01-01'];

test.each([
  "SELECT max(f) FROM m WHERE h = 'a' AND time >= '$' AND time < '$' + 1d GROUP BY time(1m)",
  "SELECT max(f) FROM m WHERE time >= '$' GROUP BY time(12h) LIMIT 3",
  "SELECT * FROM m WHERE time >= '$' AND time < '$' + 1d",
  "SELECT * FROM /[mn]/ WHERE time >= '$' AND time < '$' + 1d GROUP BY *",
  "SELECT late1, f FROM m WHERE time >= '$' AND time < '$' + 1d AND (late2 = true OR h = 'a')",
  "SELECT mean(f), last(g) FROM m, n WHERE time >= '$' AND time < '$' + 1d GROUP BY h",
  "SELECT derivative(max(f), 1m) FROM m WHERE time >= '$' AND time < '$' + 3m GROUP BY time(1m)",
  "SELECT max(f) FROM (SELECT f FROM m WHERE time >= '$') WHERE time < '$' + 1d",
  "SELECT count(f) FROM m WHERE time >= '$' AND time < '$' + 1d GROUP BY time(1d) tz('Europe/Berlin')",
  "SELECT f FROM nothing WHERE time >= '$'",
  "SELECT sum(f) FROM m WHERE time >= '$' OR h = 'b'",
  "SELECT mean(h) FROM m WHERE time >= '$'",
])('with other times: %s', async (text) => {
  await check(DAYS.map((day) => text.replaceAll('$', day)));
});

test.each([
  ["SELECT f, absent, hh FROM m WHERE time >= '$'", DAYS],
  ["SELECT h FROM m WHERE time >= '$'", DAYS],
  ['SELECT f, absent FROM m WHERE time >= $', ['1', '1772445600', '2', '1772445600000']],
  ['SELECT f FROM (SELECT f FROM m WHERE time > $)', ['1', '1772445600', '2']],
  ["SELECT f FROM m WHERE g = '$'", ['1', 'x', 'true']],
  ["SELECT f FROM mm WHERE h = '$'", ['a', 'b']],
])('with findings: %s', async (text, values) => {
  await check(values.map((value) => text.replaceAll('$', value)));
});

test('a page that refreshes asks for known statements, with findings and in chunks', async () => {
  const panels = [
    'SELECT mean(f) FROM m WHERE time >= $ms AND time < $ms + 1h GROUP BY time(1m), h fill(none)',
    "SELECT max(g) FROM m WHERE h = 'a' AND time >= $ms GROUP BY time(1h)",
    'SELECT last(f) FROM n WHERE time >= $ms - 7d GROUP BY *',
    'SELECT max(f), max(absent) FROM m WHERE time >= $ms GROUP BY time(1h)',
    'SELECT * FROM m WHERE time >= $ms ORDER BY time DESC LIMIT 20',
  ];
  const refresh = async (ms: number): Promise<void> => {
    for (const panel of panels) {
      const parameters = { db: 'db', diagnostics: 'true', chunked: 'true', epoch: 'ms' };
      await service.query(panel.replaceAll('$', String(ms)), parameters);
    }
  };
  const start = Date.parse('2026-03-02T09:00:00Z');
  await refresh(start);
  const before = await planCounters();
  for (let i = 1; i <= 20; i++) await refresh(start + i * 10_000);
  const after = await planCounters();

  expect(after.hits - before.hits).toBe(20 * panels.length);
  expect(after.misses).toBe(before.misses);
});

test.each([
  ['other numbers and limits', 'SELECT f FROM m WHERE f > $ AND g < $00 LIMIT $', {}],
  ['a subquery', 'SELECT max(f) FROM (SELECT f FROM m WHERE f > $ LIMIT $) WHERE f < 100$', {}],
  ['EXPLAIN', 'EXPLAIN SELECT max(f) FROM m WHERE f > $', {}],
  ['EXPLAIN ANALYZE', 'EXPLAIN ANALYZE SELECT max(f) FROM m WHERE f > $', {}],
  ['INTO', 'SELECT f INTO other.copy FROM m WHERE f > $', {}],
  ['bind parameters', 'SELECT f FROM m WHERE f > $least LIMIT $count', { least: 1, count: 1 }],
] as const)('%s: all statements of a shape have one plan', async (_, text, values) => {
  const ask = async (n: number): Promise<void> => {
    const bound = Object.keys(values).map((name) => [name, n]);
    const params = JSON.stringify(Object.fromEntries(bound));
    const written = bound.length > 0 ? text : text.replaceAll('$', String(n));
    const { text: answer } = await service.query(written, { db: 'db', params });
    expect(answer).not.toContain('error');
  };
  // The first one may write names that are new to the database.
  for (let n = 1; n <= 2; n++) await ask(n);
  const before = await planCounters();
  for (let n = 3; n <= 12; n++) await ask(n);
  const after = await planCounters();

  expect([after.hits - before.hits, after.misses - before.misses]).toEqual([10, 0]);
});

test('a continuous query has one plan for all its runs', async () => {
  await service.query(
    'CREATE CONTINUOUS QUERY q ON db BEGIN SELECT max(f) INTO other.most FROM m GROUP BY time(1m) END',
  );
  // Points of one shard.
  const range = { start: '2026-03-02T00:00:00Z', end: '2026-03-05T00:00:00Z' };
  const body = JSON.stringify({ database: 'db', name: 'q', ...range });
  const run = async (): Promise<string> =>
    (await service.get('/api/continuous-queries/run', { method: 'POST', body })).text;
  // It writes names that are new to the database.
  await run();
  const before = await planCounters();
  const text = await run();
  const after = await planCounters();

  const steps = text.trim().split('\n').length - 2;
  expect(steps).toBeGreaterThan(3);
  expect([after.hits - before.hits, after.misses - before.misses]).toEqual([steps - 1, 1]);
  await service.query('DROP CONTINUOUS QUERY q ON db');
});

test.each([
  'SELECT mean(f) FROM m SOFFSET $',
  'SELECT mean(f) FROM m SLIMIT 1 SOFFSET $',
  'SELECT f FROM m LIMIT 9 SOFFSET $',
  'SELECT f FROM m LIMIT 1 OFFSET $',
])('where the first statement of a shape has left some out: %s', async (text) => {
  await check([1, 0, 2, 0].map((n) => text.replace('$', String(n))));
});

test('top and bottom look at LIMIT: each has a plan of its own', async () => {
  const refused = 'SELECT top(f, 3) FROM m LIMIT 2';
  const texts = ['SELECT top(f, 3) FROM m LIMIT 3', refused, 'SELECT top(f, 3) FROM m'];
  const around = texts.map((text) => `SELECT max(top) FROM (${text})`);
  await check([...texts, ...around]);
  for (const text of [refused, `SELECT max(top) FROM (${refused})`]) {
    expect((await service.query(text, { db: 'db' })).text).toContain('can not be larger');
  }
});

async function planCounters(): Promise<{ readonly hits: number; readonly misses: number }> {
  const { json } = await service.query(`SHOW STATS FOR 'plans'`);
  const { columns, values } = json.results[0].series[0] as {
    readonly columns: readonly string[];
    readonly values: readonly (readonly number[])[];
  };
  const of = (name: string): number => values[0]?.[columns.indexOf(name)] ?? NaN;
  return { hits: of('hits'), misses: of('misses') };
}

/** Any of the alternatives of a text. */
function anyOf(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(...text.split(' | '));
}

/** A condition with a question mark for each value. */
const CONDITION = fc.letrec<{ condition: string; comparison: string; junction: string }>((tie) => ({
  comparison: fc
    .tuple(
      anyOf('h | z | h::tag | "h" | f | g | late1 | s | s::field | x | none'),
      anyOf('= | != | <> | < | >='),
      fc.boolean(),
    )
    .map(([name, operator, isName]) =>
      isName ? `${name} ${operator} ?` : `? ${operator} ${name}`,
    ),
  junction: fc
    .tuple(tie('condition'), anyOf('AND | OR'), tie('condition'))
    .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
  condition: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'condition' },
    { weight: 3, arbitrary: tie('comparison') },
    {
      weight: 1,
      arbitrary: anyOf(
        `h =~ % | h !~ % | s =~ % | f =~ % | none !~ % | f > 1 | late1 = true | 'b' = h | (h) = 'a' | h = s | true | h = 'a' + 'b' | s + 'x' = ? | 'a' = ? | f + g > 2 | time >= '2026-03-09'`,
      ),
    },
    { weight: 4, arbitrary: tie('junction') },
  ),
})).condition;

const SELECT = fc
  .tuple(
    anyOf('SELECT | SELECT | SELECT | EXPLAIN SELECT'),
    anyOf(
      'f | f, h | * | max(f) | count(*) | mean(f), last(g) | first(s) | max(f), h | top(f, h, 2) | h | f INTO other.copy',
    ),
    anyOf('m | m, n | /[mn]/ | (SELECT f, g, s, h FROM m WHERE h = ?)'),
    CONDITION,
    anyOf(
      " | GROUP BY h | GROUP BY time(7d) | GROUP BY time(7d), * fill(0) LIMIT 2 | GROUP BY time(1d) fill(none) tz('Europe/Berlin') | ORDER BY time DESC LIMIT 3",
    ),
    anyOf(' | LIMIT # | OFFSET # | LIMIT # OFFSET # | SLIMIT # | SLIMIT # SOFFSET #'),
  )
  .map(([verb, fields, source, condition, rest, limits]) => {
    const times = "time >= '2026-03-01' AND time < '2026-04-01'";
    const end = rest.includes('LIMIT') || rest.includes('tz') ? '' : limits;
    return `${verb} ${fields} FROM ${source} WHERE ${times} AND ${condition} ${rest} ${end}`;
  });

const SHOW = fc
  .tuple(
    anyOf(
      'SERIES | SERIES FROM m | TAG KEYS FROM m, n | TAG VALUES WITH KEY = h | TAG VALUES FROM m WITH KEY IN (h, z) | FIELD KEYS | MEASUREMENTS | SERIES EXACT CARDINALITY | TAG VALUES EXACT CARDINALITY WITH KEY = h',
    ),
    CONDITION,
    anyOf(' | LIMIT # | LIMIT # OFFSET #'),
  )
  .map(([what, condition, limits]) => {
    const where = what === 'FIELD KEYS' ? '' : `WHERE ${condition}`;
    return `SHOW ${what} ${where} ${limits}`;
  });

const STATEMENT = fc.oneof({ weight: 3, arbitrary: SELECT }, { weight: 1, arbitrary: SHOW });

const VALUE = anyOf(
  String.raw`'a' | 'b' | '' | 'none' | '2026-03-02' | 'it\'s' | 'ü = \'x\'' | 'o\\n' | '"q"'`,
);

test('any statement with other values', { timeout: 60_000 }, async () => {
  const lines = ["it's", 'b', '', '2026-03-02', "ü = 'x'", 'o\\n', '"q"'].map((text, i) => {
    const tag = text === '' ? '' : `,h=${text.replace(/[ ,=]/g, '\\$&')}`;
    const field = text.replace(/["\\]/g, '\\$&');
    return `m${tag} s="${field}",f=${i} 17724400${i}0000000000`;
  });
  await service.write(lines.join('\n'), { db: 'db' });
  const values = fc.array(VALUE, { minLength: 12, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(STATEMENT, values, values, async (statement, one, other) => {
      const fill = (given: readonly string[]): string => {
        let at = 0;
        const filled = statement.replace(/\?/g, () => given[at++ % 12]!);
        // The quoted text, as a regular expression.
        const matched = filled.replace(/%/g, () => `/${given[at++ % 12]!.slice(1, -1)}/`);
        return matched.replace(/#/g, () => String(given[at++ % 12]!.length - 1));
      };
      await check([fill(one), fill(other)]);
    }),
    { numRuns: 90 },
  );
});

test('of other policies and databases', async () => {
  const text = "SELECT * FROM m WHERE time >= '2026-03-02'";
  await service.query('CREATE DATABASE second');
  await service.write('m,k=1 x=1 1772440000000000000', { db: 'second' });
  await service.write('m,h=o f=9 1772440000000000000', { db: 'db', rp: 'other' });
  for (const parameters of [
    { db: 'db' },
    { db: 'db', rp: 'other' },
    { db: 'second' },
    { db: 'third' },
    { db: 'db', rp: 'none' },
    { db: 'db' },
  ]) {
    await check([text], parameters);
  }
});

test('of fields, tags and measurements that come and go', async () => {
  const texts = [
    "SELECT * FROM c WHERE time >= '2026-03-02'",
    "SELECT mean(x) FROM c WHERE time >= '2026-03-02' GROUP BY t",
    "SELECT x FROM c WHERE t = '1' AND time >= '2026-03-02'",
  ];
  await check(texts);
  for (const line of ['c x=1', 'c,t=1 x=2', 'c y=true', 'c,u=1 x=3']) {
    await service.write(`${line} 1772440000000000000`, { db: 'db' });
    await check(texts);
  }
  await service.query('DROP MEASUREMENT c', { db: 'db' });
  await check(texts);
  await service.write('c x="text" 1772440000000000000', { db: 'db' });
  await check(texts);
});
