// Every error has a position: all recorded statements with an error have a diagnostic inside their
// text, and mistakes in a single word or clause point at it.
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

type RecordedCase = {
  readonly group: string;
  readonly setup: readonly string[];
  readonly writes: readonly {
    readonly db: string;
    readonly precision: string;
    readonly lines: readonly string[];
  }[];
  readonly request: { readonly path: string; readonly params?: Readonly<Record<string, string>> };
  readonly body: unknown;
};

type Finding = {
  readonly code: string;
  readonly message: string;
  readonly position: number;
  readonly length: number;
  readonly hint?: string;
};

type Answer = {
  readonly error?: string;
  readonly diagnostics?: readonly Finding[];
  readonly results?: readonly {
    readonly error?: string;
    readonly diagnostics?: readonly Finding[];
  }[];
};

const CASES = readFileSync(
  new URL('../../../../tests/compat/oracle-cases.jsonl', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RecordedCase);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const [first] = CASES;
  for (const statement of first?.setup ?? []) await service.query(statement);
  for (const { db, precision, lines } of first?.writes ?? []) {
    await service.write(lines.join('\n'), { db, precision });
  }
});
afterAll(() => service.close());

/** The error of an answer and what it says about the text. */
function faultOf(answer: Answer): { error: string; findings: readonly Finding[] } | undefined {
  const { error, diagnostics } = [answer, ...(answer.results ?? [])].find(
    (part) => part.error !== undefined,
  ) ?? { error: undefined, diagnostics: undefined };
  return error === undefined ? undefined : { error, findings: diagnostics ?? [] };
}

async function ask(q: string): Promise<Answer> {
  return (await service.query(q, { db: 'wx', diagnostics: 'true' })).json as Answer;
}

test('every recorded statement that is wrong carries code, position and length', async () => {
  const texts = new Set(
    CASES.filter(
      ({ request, body }) => request.path === '/query' && JSON.stringify(body).includes('"error"'),
    )
      .map(({ request }) => request.params?.['q'] ?? '')
      .filter((text) => text.trim() !== ''),
  );
  let count = 0;
  for (const text of texts) {
    const fault = faultOf(await ask(text));
    // Some are wrong only with the data of their own case.
    if (fault === undefined) continue;
    count++;
    const [finding] = fault.findings;
    expect(finding, text).toBeDefined();
    const { code, position, length } = finding!;
    expect(code, text).toMatch(/^[A-Z_]+$/);
    expect(position, text).toBeGreaterThanOrEqual(0);
    expect(position + length, text).toBeLessThanOrEqual(text.length);
  }
  expect(count).toBeGreaterThan(400);
});

test.each([
  ['SELECT mean() FROM station', 'IQL_ARGUMENT', 'mean()'],
  ['SELECT mean(temp, hum) FROM station', 'IQL_ARGUMENT', 'mean(temp, hum)'],
  ['SELECT mean(5) FROM station', 'IQL_ARGUMENT', '5'],
  ["SELECT percentile(temp, 'x') FROM station", 'IQL_ARGUMENT', "'x'"],
  ['SELECT top(temp, 0) FROM station', 'IQL_ARGUMENT', '0'],
  ['SELECT derivative(temp, 5) FROM station', 'IQL_ARGUMENT', '5'],
  ['SELECT derivative(mean(temp)) FROM station', 'IQL_ARGUMENT', 'derivative(mean(temp))'],
  ['SELECT holt_winters(temp, 5, 0) FROM station', 'IQL_ARGUMENT', 'temp'],
  ['SELECT distinct(temp, hum) FROM station', 'IQL_ARGUMENT', 'hum'],
  ['SELECT mean(temp), temp FROM station', 'IQL_COMBINATION', 'mean(temp), temp'],
  ['SELECT temp FROM station GROUP BY time(1m)', 'IQL_COMBINATION', 'time(1m)'],
  ['SELECT mean(temp) FROM station GROUP BY time(5)', 'IQL_DIMENSION', '5'],
  ['SELECT mean(temp) FROM station GROUP BY now()', 'IQL_DIMENSION', 'now()'],
  ['SELECT 1 + 2 FROM station', 'IQL_NO_VARIABLE', '1 + 2'],
  ["SELECT 'temp' FROM station", 'IQL_NO_VARIABLE', "'temp'"],
  ['SELECT time FROM station', 'IQL_NO_FIELD', 'time'],
  ['SELECT temp + * FROM station', 'IQL_WILDCARD', '*'],
  ['SELECT mean(*) + 1 FROM station', 'IQL_WILDCARD', '*'],
  ['SELECT temp + ok FROM station', 'IQL_TYPE', 'temp + ok'],
  ['SELECT mean(note) FROM station', 'IQL_FIELD_TYPE', 'mean(note)'],
  ['SELECT temp FROM station WHERE mean(temp) > 1', 'IQL_CONDITION', 'mean(temp)'],
  ["SELECT temp FROM station WHERE time > 'yesterday'", 'IQL_CONDITION', "'yesterday'"],
  ['SELECT temp FROM station WHERE time != 5', 'IQL_CONDITION', 'time != 5'],
  ['SELECT temp FROM station WHERE temp', 'IQL_CONDITION', 'temp'],
  ['SELECT temp FROM nosuch.autogen.station', 'IQL_UNKNOWN_DATABASE', 'nosuch.autogen.station'],
  ['SELECT temp FROM wx.nosuch.station', 'IQL_UNKNOWN_POLICY', 'wx.nosuch.station'],
  ['SELECT a FROM _series', 'IQL_SYSTEM_SOURCE', '_series'],
  [
    'SELECT * FROM (SELECT temp FROM station ORDER BY time DESC)',
    'IQL_ORDER',
    '(SELECT temp FROM station ORDER BY time DESC)',
  ],
  ['SHOW MEASUREMENTS WHERE temp > 0', 'IQL_CONDITION', 'temp > 0'],
  ['SHOW SERIES CARDINALITY WHERE time > 0', 'IQL_CONDITION', 'time > 0'],
  ['DELETE FROM station WHERE temp > 1', 'IQL_CONDITION', 'temp > 1'],
  ['DROP SERIES FROM station WHERE time > 0', 'IQL_CONDITION', 'time > 0'],
  ['SHOW TAG KEYS ON nosuch', 'NOT_FOUND', 'SHOW TAG KEYS ON nosuch'],
  ['KILL QUERY 99999', 'NOT_FOUND', 'KILL QUERY 99999'],
  ['SHOW DATABASES; DROP SHARD x', 'IQL_SYNTAX', 'x'],
])('%s points at what is wrong', async (text, code, place) => {
  const fault = faultOf(await ask(text));

  expect(
    fault?.findings.map((one) => [one.code, text.slice(one.position, one.position + one.length)]),
  ).toEqual([[code, place]]);
});

test('an error of a limit has the setting in its hint', async () => {
  const limited = await startTestService({ config: { coordinator: { 'max-select-point': 1 } } });
  await limited.query('CREATE DATABASE wx');
  await limited.write('station temp=1 1\nstation temp=2 2', { db: 'wx' });
  const text = ' SELECT temp FROM station';
  const { json } = await limited.query(text, { db: 'wx', diagnostics: 'true' });

  expect(json.results[0].diagnostics).toEqual([
    {
      code: 'LIMIT_EXCEEDED',
      message: 'max-select-point limit exceeed: (2/1)',
      position: 0,
      length: text.length - 1,
      hint: 'ask for less, or raise coordinator.max-select-point',
    },
  ]);
  await limited.close();
});

test('a request that is refused as a whole says which statement is too many', async () => {
  const limited = await startTestService({
    config: { coordinator: { 'max-statements-per-request': 1 } },
  });
  const text = 'SHOW DATABASES; SHOW USERS';
  const { status, json } = await limited.query(text, { diagnostics: 'true' });

  expect([status, json.error]).toEqual([400, 'max-statements-per-request limit exceeded: (2/1)']);
  expect(json.diagnostics).toMatchObject([{ code: 'IQL_REFUSED', position: 16, length: 10 }]);
  await limited.close();
});
