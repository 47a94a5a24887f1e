import { parseQuery, printStatement } from '@tidemark/influxql';
import { describe, expect, test } from 'vitest';

import { WRITE, writeChain } from './chains.ts';
import { firstDifference } from './compare.ts';
import { randomLines } from './data.ts';
import { randomEnds, randomTiedLines } from './ends.ts';
import { excuseFor } from './excuses.ts';
import { asRecordedCase, fuzz } from './fuzz.ts';
import type { Difference, FuzzServer } from './fuzz.ts';
import { Random } from './random.ts';
import type { Answer } from './server.ts';
import { msgpackText } from './msgpack.ts';
import { shrink } from './shrink.ts';
import { randomStatement } from './statements.ts';
import { variantOf } from './variants.ts';
import { randomWay, wayText } from './ways.ts';

function statements(seed: number, count: number): readonly string[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => printStatement(randomStatement(random)));
}

describe('random statements', () => {
  test('are the same for the same seed and differ for another', () => {
    expect(statements(7, 50)).toEqual(statements(7, 50));
    expect(statements(7, 50)).not.toEqual(statements(8, 50));
  });

  test('parse, and print as they were written', () => {
    for (const text of statements(1, 2000)) {
      const { query, error } = parseQuery(text);

      expect(error).toBeUndefined();
      expect(query.statements.map((one) => printStatement(one))).toEqual([text]);
    }
  });

  test('of equal times parse, and are about first and last or rows', () => {
    const random = new Random(5);
    for (let k = 0; k < 500; k++) {
      const drawn = printStatement(randomEnds(random));
      const { query, error } = parseQuery(drawn);

      expect(error).toBeUndefined();
      expect(query.statements.map((one) => printStatement(one))).toEqual([drawn]);
    }
    const times = randomTiedLines(new Random(6)).map((line) => line.split(' ').at(-1));
    expect(new Set(times).size).toBeLessThan(times.length / 2);
  });

  test('cover the language', () => {
    const all = statements(3, 3000).join('\n');

    for (const part of [
      'fill(linear)',
      'ORDER BY time DESC',
      'SLIMIT',
      'TZ(',
      'FROM (SELECT',
      'top(',
      'percentile(',
      'moving_average(',
      '!~',
      'SHOW TAG VALUES',
      'WITH KEY !~',
      'WITH MEASUREMENT',
      'CARDINALITY',
      'DISTINCT ',
      'holt_winters',
      'SOFFSET',
      'sample(',
      "'simple')",
      'log(',
      '::tag',
      'queryfuzz.autogen',
      "Z' ",
    ]) {
      expect(all).toContain(part);
    }
  });
});

type Kind = readonly [name: string, pattern: RegExp, holds?: (found: RegExpExecArray) => boolean];

/** Bugs that users found before the fuzzer did: its grammar now draws each kind. */
const KINDS: readonly Kind[] = [
  ['one of two times', /time = \S+( \S+)? OR time = /],
  ['one time', /WHERE time = /],
  [
    'a range that ends before it starts',
    /time >=? (\d+)m AND time <=? (\d+)m/,
    ([, from, to]) => Number(to) < Number(from),
  ],
  ['an hour of one digit', /'\d{4}-\d\d-\d\d \d:\d\d:\d\d'/],
  ['decades of hours in a zone', /time >= '201\d-.* GROUP BY time\(1h\) fill\(.*TZ\(/],
  ['thousands of different calls', /^SELECT (percentile\([fi], [\d.]+\), ){900}/],
  ['bits of a call of no rows', /(sum|max|count)\(nosuch\) [&|^] /],
  ['a tag read as a field', /(host|zone)::field/],
  ['a field and a duration', /[fig] [-+*/%] 1h/],
  ['different values', /distinct\(f\)|DISTINCT f/],
  ['counts of names in groups', /SHOW (MEASUREMENT|FIELD KEY) EXACT CARDINALITY.* GROUP BY/],
  ['a tag compared with a boolean', /SHOW TAG VALUES.* (host|zone|nosuch) !?= false/],
  ['a tag compared with a number', /SHOW TAG VALUES.* (host|zone|nosuch) !?= 5/],
  ['a database without a policy', /FROM queryfuzz\.\.m/],
];

describe('among random statements is', () => {
  const all = statements(11, 20_000);

  test.each(KINDS.map((kind) => [kind[0], kind] as const))(
    '%s',
    (_, [, pattern, holds = () => true]) => {
      const isDrawn = all.some((text) => {
        const found = pattern.exec(text);
        return found !== null && holds(found);
      });

      expect(isDrawn).toBe(true);
    },
  );
});

test('random points have zeros of both signs', () => {
  const lines = Array.from({ length: 50 }, (_, seed) => randomLines(new Random(seed))).flat();

  expect(lines.some((line) => / f=-0[, ]/.test(line))).toBe(true);
});

test('random lines that are written have times as fields, other types and damaged values', () => {
  const written = Array.from({ length: 200 }, (_, seed) => writeChain(new Random(seed))).flat();

  for (const part of [/ time=3u \d/, /[ ,]f="t"/, /=1e400/, /,host=a,host=b /, /= \d/]) {
    expect(written.some((text) => text.startsWith(WRITE) && part.test(text))).toBe(true);
  }
});

describe('what is asked further', () => {
  const text =
    "SELECT f FROM (SELECT f FROM m WHERE i > 3) WHERE time > 9m AND (s = 'red' OR b = true)";
  const [statement] = parseQuery(text).query.statements;
  if (statement === undefined) throw new Error('a statement');

  test('a variant differs in literals of conditions and in nothing else', () => {
    const random = new Random(1);
    const variants = Array.from({ length: 20 }, () => printStatement(variantOf(random, statement)));

    expect(new Set(variants).size).toBeGreaterThan(15);
    for (const one of variants) expect(formOf(one)).toBe(formOf(text));
  });

  test('bound parameters stand for the literals that they may stand for', () => {
    const random = new Random(1);
    const ways = Array.from({ length: 200 }, () => randomWay(random, text));

    expect(ways.find(({ way }) => way.parameters['params'] !== undefined)).toEqual({
      text: 'SELECT f FROM (SELECT f FROM m WHERE i > $p0) WHERE time > 9m AND (s = $p1 OR b = $p2)',
      way: { parameters: { params: '{"p0":3,"p1":"red","p2":true}' } },
    });
    expect(new Set(ways.map(({ way }) => wayText(way).split('=')[0])).size).toBeGreaterThan(6);
  });

  test('MessagePack is read with its types, maps in order of their names', () => {
    const bytes = Buffer.from(
      '83a17ac0a161cb4002000000000000a16d95ccffd1fff8a0c2c70c050000000000000001000000ff',
      'hex',
    );

    expect(msgpackText(bytes)).toBe('{"a":2.25f,"m":[255,-8,"",false,@1.255],"z":null}');
    expect(() => msgpackText(bytes.subarray(0, -1))).toThrow('the answer ends too early');
  });
});

test('random points of one measurement never share a time', () => {
  for (let seed = 0; seed < 50; seed++) {
    const lines = randomLines(new Random(seed));

    const times = lines.map((line) => `${line.charAt(0)} ${line.split(' ').at(-1)}`);
    expect(new Set(times).size).toBe(lines.length);
  }
});

describe('comparing answers', () => {
  test.each([
    ['{"a":[1,2]}', '{ "a": [1, 2] }'],
    ['{"a":0.30000000000000004}', '{"a":0.3}'],
    ['{"a":9007199254740993}', '{"a":9007199254740993}'],
    ['bare text\n', 'bare text'],
  ])('%s says the same as %s', (reference, candidate) => {
    expect(firstDifference(reference, candidate)).toBeUndefined();
  });

  test.each([
    ['{"a":[1,2]}', '{"a":[1]}', '$.a[1]: 2 against nothing'],
    ['{"a":null}', '{"a":0}', '$.a: null against 0'],
    ['{}', '{"a":"x"}', '$.a: nothing against "x"'],
    [
      '{"a":9007199254740993}',
      '{"a":9007199254740992}',
      '$.a: "9007199254740993" against "9007199254740992"',
    ],
    ['{"a":1.001}', '{"a":1}', '$.a: 1.001 against 1'],
    ['bare text', '{}', '$: not JSON'],
  ])('%s differs from %s', (reference, candidate, difference) => {
    expect(firstDifference(reference, candidate)).toBe(difference);
  });
});

test('shrinking keeps what matters and drops the rest', async () => {
  const text =
    "SELECT mean(f), max(i) + 1 FROM (SELECT f, i FROM m WHERE host = 'a') WHERE time > 1s AND time < 9s AND zone = 'x' GROUP BY time(1s), zone fill(0) LIMIT 3";
  const [statement] = parseQuery(text).query.statements;
  if (statement === undefined) throw new Error('a statement');
  const lines = Array.from({ length: 40 }, (_, i) => `m f=${i}`);

  const smallest = await shrink({ lines, statement }, async (one) => {
    return printStatement(one.statement).includes('max(i)') && one.lines.includes('m f=17');
  });

  expect(smallest.lines).toEqual(['m f=17']);
  expect(printStatement(smallest.statement)).toBe('SELECT max(i) FROM (SELECT i FROM m)');
});

function formOf(text: string): string {
  return text.replaceAll(/'(?:[^'\\]|\\.)*'|-?\d[\d.]*[mhsuwd]*|true|false/g, '?');
}

describe('the loop', () => {
  const server = (
    answer: (text: string) => string,
    wait: () => Promise<unknown> = async () => {},
  ): FuzzServer => {
    const ask = async (text: string): Promise<Answer> => {
      await wait();
      return { status: 200, body: answer(text) };
    };
    return { load: async () => {}, query: ask, write: ask };
  };

  async function run(
    candidate: (text: string) => string,
    reference: (text: string) => string = () => '{}',
    now: () => number = () => 0,
  ): Promise<{
    readonly found: readonly Difference[];
    readonly differences: number;
    readonly excused: number;
  }> {
    const found: Difference[] = [];
    let asked = 0;
    const report = await fuzz({
      reference: server(reference),
      // The reference server has answered by then.
      candidate: server(candidate, () => new Promise(setImmediate)),
      seed: 1,
      randomStatement,
      statementsPerRound: 30,
      isOver: () => asked++ > 150,
      now,
      onDifference: (difference) => found.push(difference),
    });
    return { found, differences: report.differences, excused: report.excused };
  }

  test('finds nothing between equal servers', async () => {
    expect(await run(() => '{}')).toEqual({ found: [], differences: 0, excused: 0 });
  });

  test('reports a difference once, made smaller, as a case that can be replayed', async () => {
    const { found, differences } = await run((text) =>
      text.includes('ORDER BY time DESC') ? '{"results":[]}' : '{}',
    );

    expect(differences).toBeGreaterThan(1);
    expect(found.length).toBeLessThan(differences);
    for (const one of found) {
      expect(one.text).toContain('ORDER BY time DESC');
      expect(one.lines).toEqual([]);
      const recorded: unknown = JSON.parse(asRecordedCase(one));
      expect(recorded).toMatchObject({ group: 'fuzz', status: 200, body: {}, raw: '{}' });
    }
  });

  test('finds what only the statement before it explains', async () => {
    let last = '';
    const { found } = await run((text) => {
      const isOfOneForm = formOf(text) === formOf(last) && text !== last && text.includes('min(');
      last = text;
      return isOfOneForm ? '{"results":[]}' : '{}';
    });

    expect(found.length).toBeGreaterThan(0);
    for (const { after, text } of found) expect(formOf(after.at(-1) ?? '')).toBe(formOf(text));
  });

  test('finds what takes much longer each time, and not what does so once', async () => {
    let ms = 0;
    let slow = 0;
    const slowAt = (isSlow: (text: string) => boolean) => (text: string) => {
      if (isSlow(text)) ms += 60_000;
      return '{}';
    };
    const always = await run(
      slowAt((text) => text.includes('TZ(')),
      undefined,
      () => ms,
    );
    const once = await run(
      slowAt(() => slow++ === 5),
      undefined,
      () => ms,
    );

    expect(always.found[0]).toMatchObject({ what: 'slow: 0 ms against 60000 ms' });
    expect(always.found[0]?.text).toContain('TZ(');
    expect(once.found).toEqual([]);
  });

  test('asks for nothing behind a write of which the reference server lost all', async () => {
    const lost = '{"error":"field type conflict"}';
    const full =
      '{"error":"field type conflict: input field s on measurement w is type string, already exists as type float"}';
    const isWrite = (text: string): boolean => !/^(SELECT|SHOW|DELETE|DROP)/.test(text);
    let lostWrites = 0;
    let isBehind = false;
    const { found } = await run(
      (text) => (isWrite(text) ? full : isBehind && / "time" /.test(text) ? '{"rows":1}' : '{}'),
      (text) => {
        isBehind = isWrite(text) || (isBehind && / (m|n|w|"time") GROUP BY \*$/.test(text));
        if (isWrite(text)) lostWrites++;
        return isWrite(text) ? lost : '{}';
      },
    );

    expect(lostWrites).toBeGreaterThan(0);
    expect(found).toEqual([]);
  });

  test('does not count what is excused when it is asked again', async () => {
    let asked = 0;
    const { found, differences } = await run(
      () => '{}',
      () => (asked++ === 0 ? '{"a":1}' : 'json: unsupported value: +Inf'),
    );

    expect(found).toEqual([]);
    expect(differences).toBe(0);
  });

  test('does not count what is excused', async () => {
    const { differences, excused } = await run(
      () => '{}',
      () => 'json: unsupported value: +Inf',
    );

    expect(differences).toBe(0);
    expect(excused).toBeGreaterThan(100);
  });
});

describe('an excuse', () => {
  const answer = (...series: object[]): Answer => ({
    status: 200,
    body: JSON.stringify({ results: [{ statement_id: 0, series }] }),
  });
  const m = (columns: string[], ...values: unknown[][]): object => ({ name: 'm', columns, values });
  const reasonOf = (text: string, reference: Answer, candidate: Answer): string | undefined =>
    excuseFor({ text, reference, candidate });

  test.each([
    [
      'SELECT mode(f), max(f) FROM m',
      answer(m(['time', 'mode', 'max'], [0, 1, 9])),
      answer(m(['time', 'mode', 'max'], [0, 2, 9])),
      answer(m(['time', 'mode', 'max'], [0, 2, 8])),
    ],
    [
      'SELECT moving_average(mode(i), 4) FROM m WHERE time > 0 GROUP BY time(1h)',
      answer(m(['time', 'moving_average'], [0, 18.25], [1, 2])),
      answer(m(['time', 'moving_average'], [0, 28], [1, 2])),
      answer(m(['time', 'mode'], [0, 28], [1, 2])),
    ],
    [
      'SELECT percentile(g, 57) FROM (SELECT f % i AS g FROM n)',
      answer(m(['time', 'percentile'], [7, null])),
      answer(m(['time', 'percentile'], [9, 29.75])),
      answer(m(['time', 'median'], [9, 29.75])),
    ],
    [
      'SELECT top(f, 2) FROM m ORDER BY time DESC',
      answer(m(['time', 'top'], [1, 5], [2, 4])),
      answer(m(['time', 'top'], [2, 4], [1, 5])),
      answer(m(['time', 'top'], [2, 4], [1, 3])),
    ],
    [
      'SELECT integral(f, 1m), sum(i) FROM m GROUP BY host',
      answer(
        m(['time', 'integral', 'sum'], [0, null, 3]),
        m(['time', 'integral', 'sum'], [0, 7, null]),
      ),
      answer(m(['time', 'integral', 'sum'], [0, 7, 3])),
      answer(m(['time', 'integral', 'sum'], [0, 7, 4])),
    ],
    [
      'SELECT integral(f, 1m) - count(f) AS f FROM m GROUP BY host',
      answer(m(['time', 'f'], [0, null])),
      answer(m(['time', 'f'], [0, 4])),
      answer(m(['time', 'f'], [1, 4])),
    ],
    [
      'SELECT integral(f, 1m) FROM m WHERE time > 0 GROUP BY time(1m)',
      answer(m(['time', 'integral'], [0, 1], [120, 9])),
      answer(m(['time', 'integral'], [0, 1], [60, 4], [120, 5])),
      answer(m(['time', 'integral'], [0, 1], [60, 9])),
    ],
    [
      'SELECT count(f) FROM (SELECT integral(f, 1m) AS f FROM m) WHERE time > 0 GROUP BY time(1m)',
      answer(m(['time', 'count'], [0, 1], [60, 0], [120, 1])),
      answer(m(['time', 'count'], [0, 1], [60, 1], [120, 1])),
      answer(m(['time', 'count'], [0, 1], [60, 1])),
    ],
    [
      'SELECT last(f) FROM (SELECT integral(f, 1m) AS f FROM m GROUP BY time(1m)) WHERE time > 0 GROUP BY time(1m), host',
      answer(m(['time', 'last'], [0, 1], [120, null]), m(['time', 'last'], [60, 4], [120, null])),
      answer(m(['time', 'last'], [0, 1], [60, 4])),
      answer(m(['time', 'first'], [0, 1], [60, 4])),
    ],
    [
      'SELECT non_negative_difference(sum(f)) FROM (SELECT integral(f, 1m) AS f FROM m) WHERE time > 0 GROUP BY time(1m)',
      answer(m(['time', 'non_negative_difference'], [120, 4])),
      answer(m(['time', 'non_negative_difference'], [60, 1])),
      answer(m(['time', 'difference'], [60, 1], [120])),
    ],
    [
      'SELECT mean(i), first(b) FROM (SELECT i AS f FROM m), (SELECT i, b FROM n) WHERE time > 0 GROUP BY time(1m) fill(none)',
      answer(m(['time', 'mean', 'first'], [0, 1, null])),
      answer(m(['time', 'mean', 'first'], [0, 1, null], [60, null, false])),
      answer(m(['time', 'mean', 'first'], [60, null, false])),
    ],
    [
      'SELECT percentile(f, 50), s FROM m',
      answer(m(['time', 'percentile', 's'], [1, 5, 'red'])),
      answer(m(['time', 'percentile', 's'], [2, 5, 'blue'])),
      answer(m(['time', 'percentile', 's'], [1, 6, 'red'])),
    ],
    [
      'SELECT non_negative_difference(f) FROM (SELECT holt_winters(sum(i), 2, 0) AS f FROM m GROUP BY time(15m), host)',
      answer(m(['time', 'non_negative_difference'], [1, 0], [0, 34])),
      answer(m(['time', 'non_negative_difference'], [1, 0], [2, 10], [3, 0])),
      answer(m(['time', 'difference'], [1, 0], [0, 34])),
    ],
    [
      'SELECT host FROM (SELECT max(*) FROM m GROUP BY host)',
      answer(m(['time', 'host'], [0, 'a'], [0, 'a'])),
      answer(m(['time', 'host'], [0, 'a'])),
      answer(m(['time', 'host'], [0, 'b'])),
    ],
    [
      'SELECT f, i FROM (SELECT max(f) AS f, min(i) AS i FROM m GROUP BY host)',
      answer(m(['time', 'f', 'i'], [0, 1, 3], [0, 2, 4])),
      answer(m(['time', 'f', 'i'], [0, 1, 4], [0, 2, 3])),
      answer(m(['time', 'f', 'i'], [0, 1, 4], [0, 2, 5])),
    ],
    [
      "SHOW MEASUREMENTS WHERE host = 'a'",
      answer({ name: 'measurements', columns: ['name'], values: [['m'], ['n']] }),
      answer({ name: 'measurements', columns: ['name'], values: [['n']] }),
      answer({ name: 'measurements', columns: ['name'], values: [['n'], ['m']] }),
    ],
    [
      'SHOW SERIES',
      answer({ columns: ['key'], values: [['n,host=b2'], ['n,host=b28'], ['n,host=c']] }),
      answer({ columns: ['key'], values: [['n,host=b28'], ['n,host=c']] }),
      answer({ columns: ['key'], values: [['n,host=b28']] }),
    ],
    [
      'SHOW TAG KEYS FROM m WHERE time > 0',
      answer(m(['tagKey'], ['host'], ['zone'])),
      answer(m(['tagKey'], ['host'])),
      answer(m(['tagKey'], ['other'])),
    ],
    [
      'SELECT max(f) FROM (SELECT sqrt(g) AS f FROM (SELECT i AS g FROM m))',
      answer(m(['time', 'max'], [0, -9e15])),
      answer(m(['time', 'max'], [0, null])),
      answer({ name: 'm', columns: ['time', 'min'], values: [[0, 1]] }),
    ],
    [
      'SELECT f FROM m WHERE time < 9 GROUP BY /^[hz]/',
      answer({
        name: 'm',
        tags: { host: 'a', zone: '' },
        columns: ['time', 'f'],
        values: [[0, 1]],
      }),
      answer({ name: 'm', tags: { host: 'a' }, columns: ['time', 'f'], values: [[0, 1]] }),
      answer({ name: 'm', tags: { host: 'b' }, columns: ['time', 'f'], values: [[0, 1]] }),
    ],
    [
      'SELECT f FROM m GROUP BY *',
      answer({ name: 'm', tags: { host: '' }, columns: ['time', 'f'], values: [[0, 1]] }),
      answer(m(['time', 'f'], [0, 1])),
      answer(m(['time', 'f'], [0, 2])),
    ],
    [
      'SELECT distinct(f) FROM (SELECT stddev(f) AS f FROM m GROUP BY host)',
      answer(m(['time', 'distinct'], [0, null], [0, null], [0, 2])),
      answer(m(['time', 'distinct'], [0, null], [0, 2])),
      answer(m(['time', 'distinct'], [0, null], [0, 3])),
    ],
    [
      'SELECT top(f, zone, 2), i FROM (SELECT max(g) AS f, last(f) AS i FROM m) WHERE time > 0 GROUP BY time(90m)',
      answer(m(['time', 'top', 'zone', 'i'], [0, 1, null, null])),
      answer(m(['time', 'top', 'zone', 'i'], [0, 1, null, 2])),
      answer(m(['time', 'top', 'zone', 'i'], [0, 2, null, 2])),
    ],
    [
      'SELECT median(f) FROM (SELECT holt_winters(max(i), 3, 0) AS f FROM n GROUP BY host) WHERE time > 0 GROUP BY time(1m)',
      answer(m(['time', 'median'], [0, 1], [60, 2], [0, 1])),
      answer(m(['time', 'median'], [0, 1], [60, 2])),
      answer(m(['time', 'median'], [0, 1])),
    ],
    [
      'SELECT median(f) FROM (SELECT sample(i, 9) AS f FROM n GROUP BY time(90m), host) WHERE time > 0 GROUP BY time(1m)',
      answer(m(['time', 'median'], [0, null], [60, 2], [0, 1])),
      answer(m(['time', 'median'], [0, 1], [60, 2])),
      answer(m(['time', 'median'], [0, 1])),
    ],
    [
      'SELECT f FROM m WHERE time = 1s OR time = 2s',
      answer(),
      {
        status: 200,
        body: '{"results":[{"messages":[{"level":"warning","text":"comparisons of time under OR are taken"}],"series":[]}]}',
      },
      answer(m(['time', 'f'], [0, 1])),
    ],
  ])('of %s covers its difference and no other', (text, reference, documented, wrong) => {
    expect(reasonOf(text, reference, documented)).toBeDefined();
    expect(reasonOf(text, reference, wrong)).toBeUndefined();
    const failed = { status: 200, body: '{"results":[{"statement_id":0,"error":"internal"}]}' };
    expect(reasonOf(text, reference, failed)).toBeUndefined();
  });

  test.each([
    [
      'field type conflict: input field \\"i\\" on measurement \\"m\\" is type string, already exists as type integer',
      'field type conflict: input field i on measurement m is type string, already exists as type int64',
      'field type conflict: input field f on measurement m is type string, already exists as type int64',
    ],
    [
      'partial write: field type conflict: input field \\"f\\" on measurement \\"m\\" is type string, already exists as type float dropped=1',
      'field type conflict: input field f on measurement m is type string, already exists as type float',
      'field type conflict: input field f on measurement m is type boolean, already exists as type float',
    ],
    [
      'field type conflict',
      'partial write: field type conflict: input field s on measurement w is type string, already exists as type boolean dropped=1',
      'timeout',
    ],
    [
      'partial write: field type conflict: input field \\"s\\" on measurement \\"w\\" is type string, already exists as type boolean dropped=2',
      'partial write: invalid tag key: input tag \\"time\\" on measurement \\"w\\" is invalid dropped=2',
      'partial write: invalid tag key: input tag \\"time\\" on measurement \\"w\\" is invalid dropped=3',
    ],
  ])('of the refusal %s covers its words and no others', (theirs, ours, wrong) => {
    const refusal = (text: string): Answer => ({ status: 400, body: `{"error":"${text}"}` });
    expect(reasonOf('WRITE m f=1', refusal(theirs), refusal(ours))).toBeDefined();
    expect(reasonOf('WRITE m f=1', refusal(theirs), refusal(wrong))).toBeUndefined();
    expect(reasonOf('WRITE m f=1', refusal(theirs), { ...refusal(ours), status: 204 })).toBe(
      undefined,
    );
  });

  test('covers no other integer, however long', () => {
    const text = 'SELECT mode(f), max(i) FROM m';
    const longs = (mode: number, max: bigint): Answer => ({
      status: 200,
      body: `{"results":[{"series":[{"name":"m","columns":["time","mode","max"],"values":[[0,${mode},${max}]]}]}]}`,
    });
    const reference = longs(1, 2n ** 62n);
    expect(reasonOf(text, reference, longs(2, 2n ** 62n))).toBeDefined();
    expect(reasonOf(text, reference, longs(2, 2n ** 62n + 1n))).toBeUndefined();
  });
});
