import type { QueryResponse } from '@tidemark/client';
import { expect, test } from 'vitest';

import { readCounts } from './counts.ts';
import type { LogRequest } from './events.ts';

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;

const requestOf = (level: string | undefined, isField = true): LogRequest => ({
  query: {
    source: {
      policy: '',
      measurement: 'events',
      text: 'message',
      level,
      fieldTypes: new Map([
        ['message', 'string'],
        ...(level === undefined || !isField ? [] : ([[level, 'string']] as const)),
      ]),
      tags: isField || level === undefined ? [] : [level],
    },
    filters: [{ name: 'level', isNot: false, value: 'error' }],
    terms: [],
  },
  fromMs: 0,
  toMs: HOUR_MS,
});

type Answer = readonly (readonly [
  tag: string,
  values: readonly (readonly (string | number)[])[],
])[];

/** Answers statements of a text one after the other, by what they contain. */
function answering(answers: Readonly<Record<string, Answer>>) {
  const sent: string[] = [];
  return {
    sent,
    read: (text: string): Promise<QueryResponse> => {
      const results = text.split('; ').map((statement, statement_id) => {
        sent.push(statement);
        const found = Object.entries(answers).find(([part]) => statement.includes(part));
        const series = (found?.[1] ?? []).map(([tag, values]) => ({
          name: 'events',
          columns: ['time', 'count'],
          values,
          ...(tag === '' ? {} : { tags: { level: tag } }),
        }));
        return { statement_id, series };
      });
      return Promise.resolve({ results });
    },
  };
}

const AT = (minute: number): string => new Date(minute * 60_000).toISOString();

test('each level of a field is one aggregate; what is left has no level', async () => {
  const { read, sent } = answering({
    'distinct(level)': [
      [
        '',
        [
          [AT(0), 'error'],
          [AT(0), 'info'],
        ],
      ],
    ],
    'count(level)': [['', [[AT(0), 10, 8]]]],
    "= 'error'": [['', [[AT(1), 3]]]],
    "= 'info'": [
      [
        '',
        [
          [AT(1), 4],
          [AT(2), 1],
        ],
      ],
    ],
    'GROUP BY time': [
      [
        '',
        [
          [AT(1), 8],
          [AT(2), 2],
        ],
      ],
    ],
  });

  const { bars, totals, intervalMs } = await readCounts(read, requestOf('level'), NEVER);

  expect(intervalMs).toBe(60_000);
  expect(totals).toEqual(
    new Map([
      ['error', 3],
      ['info', 5],
      ['', 2],
    ]),
  );
  expect(bars).toEqual([
    {
      fromMs: 60_000,
      counts: new Map([
        ['error', 3],
        ['info', 4],
        ['', 1],
      ]),
    },
    {
      fromMs: 120_000,
      counts: new Map([
        ['info', 1],
        ['', 1],
      ]),
    },
  ]);
  // Both levels are there to choose from, although one of them is chosen.
  expect(sent.filter((text) => text.includes("= 'info'"))).toHaveLength(1);
  expect(sent.at(-1)).not.toContain("= 'error'");
});

test('nothing is counted beside the levels when every event has one', async () => {
  const { read, sent } = answering({
    'distinct(level)': [['', [[AT(0), 'error']]]],
    'count(level)': [['', [[AT(0), 10, 10]]]],
    "= 'error'": [['', [[AT(1), 10]]]],
  });

  await readCounts(read, requestOf('level'), NEVER);

  expect(sent).toHaveLength(3);
});

test('levels that are a tag need one statement', async () => {
  const { read, sent } = answering({
    'time(1m), level': [
      ['error', [[AT(1), 2]]],
      ['info', [[AT(1), 5]]],
    ],
  });

  const { totals } = await readCounts(read, requestOf('level', false), NEVER);

  expect(sent).toHaveLength(1);
  expect(totals).toEqual(
    new Map([
      ['error', 2],
      ['info', 5],
    ]),
  );
});

test('events are counted without levels too, and a span may have none', async () => {
  const one = answering({ 'GROUP BY time': [['', [[AT(3), 7]]]] });
  expect((await readCounts(one.read, requestOf(undefined), NEVER)).totals).toEqual(
    new Map([['', 7]]),
  );

  const none = await readCounts(answering({}).read, requestOf('level'), NEVER);
  expect(none.bars).toEqual([]);
});

test('an error of a statement is the error of all', async () => {
  const read = () => Promise.resolve({ results: [{ statement_id: 0, error: 'too much' }] });

  await expect(readCounts(read, requestOf('level'), NEVER)).rejects.toThrow('too much');
});
