// Recorded responses of InfluxDB (tests/compat), replayed over the model in memory.
import { readFileSync } from 'node:fs';

import { parseLines } from '@tidemark/line-protocol';
import { expect, test } from 'vitest';

import differences from '../../../tests/compat/oracle-differences.json' with { type: 'json' };
import type { LineParser, RecordedCase } from './testing/recorded-cases.ts';
import { nameOfCase, RecordedServer } from './testing/recorded-cases.ts';
import { MEMORY_CAPABILITIES } from './testing/memory-source.ts';

const NOW = 1_700_000_000_000_000_000n;

const parsePoints: LineParser = (lines, precision) => {
  const body = new TextEncoder().encode(lines.join('\n'));
  return parseLines(body, { precision: precision === 's' ? 's' : 'ns', now: 0n }).points;
};

function readCases(file: string): readonly RecordedCase[] {
  const url = new URL(`../../../tests/compat/${file}`, import.meta.url);
  return readFileSync(url, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): RecordedCase => JSON.parse(line));
}

const cases = ['oracle-cases.jsonl', 'extra-cases.jsonl', 'fuzz-cases.jsonl'].flatMap(readCases);

function expected({ raw, body }: RecordedCase): string {
  if (raw !== undefined) return raw;
  return typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
}

/**
 * Warnings come from the service, what `chunked=5` means is decided there, and so are the words of
 * a refused write.
 */
const DECIDED_BY_THE_SERVICE = new Set([
  'into | POST /query db=into1 q=SELECT msg AS free INTO mem FROM cpu',
  'format | GET /query db=wx q=SELECT level INTO copy FROM river',
  'format | GET /query db=wx q=SELECT temp FROM station chunked=5',
  "where | GET /query db=wx q=SELECT temp FROM station WHERE time >= '2022-03-01T01:20:00Z' OR time < '2022-03-01T00:05:00Z'",
  "extra/times-from-now | GET /query db=shopdb q=SELECT count(sales) FROM shop WHERE time > now() OR store = 's1'",
]);

/** Cases whose recorded answer is not ours, with reasons in the list. */
const DIFFERENT = new Set(differences.map((one) => one.case));

type Outcome = { readonly answered: number; readonly surprises: readonly string[] };

/**
 * Replays the cases of a group; a surprise is a case that differs without a reason, or agrees in
 * spite of one.
 */
async function replay(group: string, capabilities = MEMORY_CAPABILITIES): Promise<Outcome> {
  let answered = 0;
  const surprises: string[] = [];
  let shared: { readonly state: string; readonly server: RecordedServer } | undefined;
  for (const recorded of cases.filter((one) => one.group === group)) {
    if (DECIDED_BY_THE_SERVICE.has(nameOfCase(recorded))) continue;
    const state = JSON.stringify([recorded.setup, recorded.writes]);
    const isReadOnly = recorded.pre === undefined && recorded.request.method === 'GET';
    let server = shared?.state === state && isReadOnly ? shared.server : undefined;
    if (server === undefined) {
      server = new RecordedServer(parsePoints, NOW, capabilities);
      if (!(await server.prepare(recorded))) continue;
      if (isReadOnly) shared = { state, server };
    }
    const got = await server.answer(recorded.request);
    if (got === undefined) continue;
    answered++;
    const agrees = got === expected(recorded);
    if (agrees !== DIFFERENT.has(nameOfCase(recorded))) continue;
    surprises.push(`${nameOfCase(recorded)}\n  want ${expected(recorded)}  got  ${got}`);
  }
  return { answered, surprises };
}

/** Groups that the executor answers, with the least number of cases that it must take part in. */
const GROUPS: readonly (readonly [string, number])[] = [
  ['select/raw', 70],
  ['where', 76],
  ['functions/plain', 142],
  ['functions/top-bottom', 39],
  ['group-by-time', 54],
  ['fill', 111],
  ['transform', 90],
  ['technical', 106],
  ['holt-winters', 15],
  ['subquery', 47],
  ['math', 118],
  ['tz', 19],
  ['mixed-types', 21],
  ['show', 116],
  ['format', 50],
  ['errors/compile', 58],
  ['into', 60],
  ['extra/subquery-fill-limit', 70],
  ['extra/selectors-in-groups', 49],
  ['extra/descending-fill', 56],
  ['extra/conditions', 49],
  ['extra/time-zones', 70],
  ['extra/overflow', 66],
  ['extra/shard-types', 59],
  ['extra/disjoint-series', 86],
  ['extra/windows-before', 50],
  ['extra/unsigned-casts', 11],
  ['extra/times-from-now', 11],
  ['extra/into-types', 14],
  ['extra/equal-times', 130],
  ['extra/linear-digits', 72],
  ['extra/subquery-tag-casts', 59],
  ['extra/several-subqueries-end', 19],
  ['fuzz', 60],
];

test.each(GROUPS)('answers the recorded cases of %s', async (group, atLeast) => {
  const { answered, surprises } = await replay(group);

  expect(surprises).toEqual([]);
  expect(answered).toBeGreaterThanOrEqual(atLeast);
});

test.each(GROUPS.filter(([group]) => /functions|group-by|fill|extra|fuzz/.test(group)))(
  'answers the recorded cases of %s over a source that aggregates nothing itself',
  async (group) => {
    const { surprises } = await replay(group, {
      ...MEMORY_CAPABILITIES,
      aggregateFunctions: new Set(),
      foldFunctions: new Set(),
      calculatesConditions: false,
    });

    expect(surprises).toEqual([]);
  },
);
