// Long calculations end when they are cancelled, between any two steps and in every phase. The
// clock advances each time it is read, so that nothing here depends on the speed of the machine.
import { Unavailable } from '@tidemark/core';
import { describe, expect, test } from 'vitest';

import type { QueryContext, QueryMemory } from './context.ts';
import { DEFAULT_QUERY_LIMITS } from './limits.ts';
import type { Operator } from './operator.ts';
import type { SourceCapabilities, SourceSnapshot } from './series-source.ts';
import type { MemoryPoint } from './testing/memory-data.ts';
import { MEMORY_CAPABILITIES, MemorySource } from './testing/memory-source.ts';
import { contextOf, DATABASE, drain, SECOND } from './testing/run-statement.ts';

const ROWS = 20_000;
/** More than a slice of work between two looks at the clock. */
const SLICE = 10;

function sourceOf(batchRows: number, points: readonly MemoryPoint[]): MemorySource {
  const memory = new MemorySource(batchRows);
  memory.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  memory.write(DATABASE, 'autogen', points);
  return memory;
}

const source = sourceOf(
  4096,
  Array.from({ length: ROWS }, (_, i) => ({
    measurement: 'm',
    tags: [['host', i % 2 === 0 ? 'a' : 'b']] as const,
    fields: [
      ['v', ((i * 7919) % ROWS) + 0.5],
      ['s', `text ${(i * 7919) % ROWS}`],
    ] as const,
    time: BigInt(i) * SECOND,
  })),
);

const WIDE = 300;

/**
 * 300 series in one measurement and one in each of 100, three to a piece; their tag has as many
 * values.
 */
const wide = sourceOf(
  3,
  Array.from({ length: WIDE }, (_, i) =>
    ['h', `one${i % 100}`].map((measurement) => ({
      measurement,
      tags: [['id', `v${i}`]] as const,
      fields: [[`f${i}`, 1]] as const,
      time: 0n,
    })),
  ).flat(),
);

/** A source that calculates no functions: their work is done by operators. */
const OPERATORS_ONLY = { ...MEMORY_CAPABILITIES, foldFunctions: new Set<never>() };

/** How often a statement looks at the clock, and how often it lets others run. */
async function looksOf(
  text: string,
  data = source,
  capabilities: SourceCapabilities = OPERATORS_ONLY,
): Promise<number> {
  let looks = 0;
  await drain(text, await contextOf(data, { capabilities, monotonicMs: () => ++looks * SLICE }));
  return looks;
}

/** Cancels a statement when it looks at the clock for the n-th time. */
async function endedAt(
  text: string,
  look: number,
  data = source,
  overrides: Partial<QueryContext> = {},
): Promise<number> {
  const abort = new AbortController();
  let looks = 0;
  const context = await contextOf(data, {
    signal: abort.signal,
    capabilities: OPERATORS_ONLY,
    // Empty windows without end are among them.
    limits: { ...DEFAULT_QUERY_LIMITS, maxFilledWindows: 0 },
    monotonicMs: () => {
      if (++looks === look) abort.abort(new Error('query interrupted'));
      return looks * SLICE;
    },
    ...overrides,
  });
  await expect(drain(text, context)).rejects.toThrow('query interrupted');
  return looks - look;
}

const RANGE = `time >= 0 AND time < ${ROWS}s`;

describe('a statement that comes to an end by itself', () => {
  test.each([
    ['raw rows', 'SELECT * FROM m', 10],
    ['raw rows, descending', 'SELECT * FROM m ORDER BY time DESC', 10],
    ['rows of a subquery', 'SELECT v FROM (SELECT v, s FROM m)', 10],
    [
      'windows of a subquery',
      `SELECT max(a) FROM (SELECT mean(v) AS a FROM m WHERE ${RANGE} GROUP BY time(1s)) WHERE ${RANGE} GROUP BY time(1m)`,
      10,
    ],
    ['a pattern', 'SELECT v FROM m WHERE s =~ /(1|2)+.*9[0-4]/', 8],
    [
      'many comparisons',
      `SELECT v FROM m WHERE ${Array.from({ length: 20 }, (_, i) => `v + ${i} = 1`).join(' OR ')}`,
      50,
    ],
    ['distinct', 'SELECT distinct(s) FROM m', 20],
    ['count of distinct', 'SELECT count(distinct(s)) FROM m', 10],
    ['mode', 'SELECT mode(v) FROM m', 20],
    ['median', 'SELECT median(v) FROM m', 15],
    ['percentile with its row', 'SELECT percentile(v, 50), s FROM m', 15],
    [
      'many percentiles',
      `SELECT ${Array.from({ length: 10 }, (_, i) => `percentile(v, ${i})`).join(', ')} FROM m`,
      100,
    ],
    ['stddev', 'SELECT stddev(v) FROM m', 15],
    ['top', 'SELECT top(v, 18000) FROM m', 20],
    ['bottom by tag', 'SELECT bottom(v, host, 18000) FROM m', 5],
    ['sample', 'SELECT sample(v, 18000) FROM m', 20],
    [
      'holt_winters',
      `SELECT holt_winters(mean(v), 10, 0) FROM m WHERE ${RANGE} GROUP BY time(5m)`,
      50,
    ],
    [
      'far predictions',
      `SELECT holt_winters(mean(v), 300000, 0) FROM m WHERE ${RANGE} GROUP BY time(1h)`,
      20,
    ],
  ])('%s ends in the middle and late', async (_name, text, atLeast) => {
    const looks = await looksOf(text);

    expect(looks).toBeGreaterThan(atLeast);
    for (const part of [0.4, 0.9]) {
      // Further checks come from closed streams, not from the work.
      expect(await endedAt(text, Math.ceil(looks * part))).toBeLessThan(10);
    }
  });
});

describe('a statement about many series', () => {
  test.each([
    'SHOW SERIES',
    'SHOW SERIES FROM h, m',
    'SHOW SERIES OFFSET 100000000',
    'SHOW TAG VALUES WITH KEY = id',
    "SHOW TAG VALUES FROM h WITH KEY = id WHERE id != 'v1'",
    'SHOW TAG KEYS',
    'SHOW FIELD KEYS',
    'SHOW MEASUREMENTS',
    "SHOW MEASUREMENTS WHERE id != ''",
    "SHOW SERIES EXACT CARDINALITY WHERE id != 'v1' GROUP BY id",
    'SHOW TAG VALUES EXACT CARDINALITY WITH KEY IN (id, zone)',
    'SHOW MEASUREMENT EXACT CARDINALITY',
    'SHOW FIELD KEY CARDINALITY',
    'SELECT _seriesKey FROM h',
  ])('%s ends in the middle and late', async (text) => {
    const looks = await looksOf(text, wide);

    expect(looks).toBeGreaterThan(60);
    for (const part of [0.4, 0.9]) {
      expect(await endedAt(text, Math.ceil(looks * part), wide)).toBeLessThan(10);
    }
  });
});

describe('a statement that nobody would see the end of', () => {
  test.each([
    [
      'windows behind OFFSET',
      'SELECT count(v) FROM m WHERE time >= 0 GROUP BY time(1ns) LIMIT 1 OFFSET 1000000000000',
    ],
    [
      'differences of empty windows',
      'SELECT difference(mean(v)) FROM m WHERE time >= 0 GROUP BY time(1ns)',
    ],
    [
      'differences beside windows',
      'SELECT difference(mean(v)), max(v) FROM m WHERE time >= 0 GROUP BY time(1ns) OFFSET 1000000000000',
    ],
  ])('%s ends when it is told to', async (_name, text) => {
    expect(await endedAt(text, 400)).toBeLessThan(10);
  });
});

/** Requests to the source that are being answered, and those that were made. */
type Requests = { open: number; made: number };

/** The snapshot of a source, whose requests are counted. */
function countedRequests(data: MemorySource, requests: Requests): SourceSnapshot {
  const snapshot = data.snapshot();
  function* counted<T>(answered: Operator<T>): Operator<T> {
    requests.open++;
    requests.made++;
    try {
      yield* answered;
    } finally {
      requests.open--;
    }
  }
  return {
    ...snapshot,
    scan: (request, options) => counted(snapshot.scan(request, options)),
    aggregate: (request, options) => counted(snapshot.aggregate(request, options)),
  };
}

describe('a statement of which some calls are folded and others take rows', () => {
  const MIXED = [
    'SELECT percentile(v, 90), stddev(v) FROM m',
    'SELECT mean(v), stddev(v), count(distinct(s)), sample(v, 5) FROM m',
    `SELECT median(v), stddev(v) AS d, percentile(v, 9) FROM m WHERE ${RANGE} GROUP BY time(1m)`,
  ];
  const CAPABILITIES = MEMORY_CAPABILITIES;

  test.each(MIXED)('%s ends in the middle and late, with both of its requests', async (text) => {
    const looks = await looksOf(text, source, CAPABILITIES);
    expect(looks).toBeGreaterThan(10);

    for (const part of [0.1, 0.4, 0.9]) {
      const requests: Requests = { open: 0, made: 0 };
      const snapshot = countedRequests(source, requests);
      const overrides = { capabilities: CAPABILITIES, snapshot };
      const ended = await endedAt(text, Math.ceil(looks * part), source, overrides);
      expect(ended).toBeLessThan(10);
      // Early on it is still at the first of them.
      expect(requests).toEqual({ open: 0, made: part < 0.4 ? requests.made : 2 });
    }
  });

  test.each(MIXED)('%s ends when its rows are more than its memory', async (text) => {
    const requests: Requests = { open: 0, made: 0 };
    const snapshot = countedRequests(source, requests);
    // Windows are there by then, and the first rows.
    const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 100_000 };
    const context = await contextOf(source, { limits, snapshot });

    await expect(drain(text, context)).rejects.toThrow('query-memory-limit exceeded');
    expect(requests).toEqual({ open: 0, made: 2 });
  });

  test.each(MIXED)('%s ends when it gets no more memory', async (text) => {
    const requests: Requests = { open: 0, made: 0 };
    const snapshot = countedRequests(source, requests);
    const refused = new Unavailable('no memory in time');
    let heldBytes = 0;
    const memory: QueryMemory = {
      holds: (sizeBytes) => void (heldBytes = sizeBytes),
      get isAsking() {
        return heldBytes > 100_000;
      },
      admit: () => Promise.reject(refused),
      openSource: () => ({ grantedBytes: 0, ask: async () => {}, release: () => undefined }),
      received: () => undefined,
    };
    const context = await contextOf(source, { memory, snapshot });

    await expect(drain(text, context)).rejects.toBe(refused);
    expect(requests).toEqual({ open: 0, made: 2 });
  });
});

describe('memory that a calculation would take is the query’s', () => {
  test.each([
    [
      'predictions',
      `SELECT holt_winters(mean(v), 1000000000, 0) FROM m WHERE ${RANGE} GROUP BY time(10m)`,
    ],
    ['seasons', `SELECT holt_winters(mean(v), 10, 9000) FROM m WHERE ${RANGE} GROUP BY time(1s)`],
    ['the best points', 'SELECT top(v, 1000000000) FROM m'],
    ['samples', 'SELECT sample(v, 1000000000) FROM m'],
    ['rows of a percentile', 'SELECT percentile(v, 50), s FROM m'],
    ['texts', 'SELECT distinct(s) FROM m'],
  ])('%s', async (_name, text) => {
    const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 600_000 };
    // The rows of both series, which are merged, have 320,000 bytes, and twice that with the
    // texts.
    const options = { limits, capabilities: OPERATORS_ONLY };
    await expect(drain(text, await contextOf(source, options))).rejects.toThrow(
      'query-memory-limit exceeded',
    );
  });

  test('is given back: many groups take no more than one', async () => {
    const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 3_000_000 };
    const statements = [
      `SELECT top(v, 200) FROM m WHERE ${RANGE} GROUP BY time(5m)`,
      `SELECT sample(v, 200) FROM m WHERE ${RANGE} GROUP BY time(5m)`,
      `SELECT percentile(v, 50), s FROM m`,
      `SELECT holt_winters(mean(v), 500, 0) FROM m WHERE ${RANGE} GROUP BY time(30m), host`,
    ];
    for (const text of statements) {
      const options = { limits, capabilities: OPERATORS_ONLY };
      expect(await drain(text, await contextOf(source, options))).toBeGreaterThan(0);
    }
  });
});
