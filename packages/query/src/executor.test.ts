// Limits, cancellation and large results, over the model in memory.
import { describe, expect, test } from 'vitest';

import type { QueryContext } from './context.ts';
import { DEFAULT_QUERY_LIMITS } from './limits.ts';
import { MEMORY_CAPABILITIES, MemorySource } from './testing/memory-source.ts';
import { answer, contextOf, DATABASE, drain, execute, SECOND } from './testing/run-statement.ts';

const ALL = MEMORY_CAPABILITIES.aggregateFunctions;
const NONE: typeof ALL = new Set();

/** Two series `host=a|b` with a float field `v`, one point per second each. */
function sourceWith(rows: number): MemorySource {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = Array.from({ length: rows }, (_, i) => ({
    measurement: 'm',
    tags: [['host', i % 2 === 0 ? 'a' : 'b']] as const,
    fields: [['v', i]] as const,
    time: BigInt(Math.floor(i / 2)) * SECOND,
  }));
  source.write(DATABASE, 'autogen', points);
  return source;
}

test.each([
  ['SELECT v FROM m', { maxSelectSeries: 1 }, 'max-select-series limit exceeded: (2/1)'],
  ['SELECT mean(v) FROM m', { maxSelectSeries: 1 }, 'max-select-series limit exceeded: (2/1)'],
  [
    'SELECT mean(v) FROM m WHERE time >= 0 AND time < 10s GROUP BY time(1s)',
    { maxSelectBuckets: 4 },
    'max-select-buckets limit exceeded: (10/4)',
  ],
  [
    'SELECT mean(v) FROM m WHERE time >= 0 AND time < 3650d GROUP BY time(1ns)',
    {},
    'max-filled-windows limit exceeded: (315360000000000000/50000000)',
  ],
  [
    'SELECT mean(v) FROM m WHERE time >= 0 AND time < 3650d GROUP BY time(1ns) fill(0) LIMIT 60000000',
    {},
    'max-filled-windows limit exceeded: (60000000/50000000)',
  ],
  ['SELECT v FROM m', { maxSelectPoints: 5 }, 'max-select-point limit exceeed: (6/5)'],
  [
    'SELECT v FROM (SELECT v FROM (SELECT v FROM m))',
    { maxSubqueryDepth: 1 },
    'max-subquery-depth limit exceeded: (2/1)',
  ],
])('%s ends with the text of its limit', async (text, limits, message) => {
  const context = await contextOf(sourceWith(40), {
    limits: { ...DEFAULT_QUERY_LIMITS, ...limits },
  });

  expect(await answer(text, context)).toBe(
    `{"results":[{"statement_id":0,"error":"${message}"}]}\n`,
  );
});

test.each([
  'SELECT mean(v) FROM m GROUP BY time(1ns)',
  'SELECT moving_average(mean(v), 2) FROM m WHERE time >= 0 AND time < 10s GROUP BY time(1ns) LIMIT 3',
])(
  '%s: windows are counted while they are filled where nobody knows how many there are',
  async (text) => {
    const context = await contextOf(sourceWith(4), {
      limits: { ...DEFAULT_QUERY_LIMITS, maxFilledWindows: 20_000 },
    });

    expect(await answer(text, context)).toContain('max-filled-windows limit exceeded: (');
  },
);

test('12,000 different calls of one field are not compared each with each', async () => {
  const calls = Array.from({ length: 12_000 }, (_, i) => `percentile(v, ${50 + i / 1000})`);
  const context = await contextOf(sourceWith(4));
  const began = performance.now();

  const found = await answer(`SELECT ${calls.join(', ')} FROM m`, context);

  expect(found.split('percentile').length - 1).toBe(12_000);
  // That takes a minute.
  expect(performance.now() - began).toBeLessThan(20_000);
});

test.each(['fill(none)', 'LIMIT 3'])(
  'windows that nobody fills are not counted: %s',
  async (how) => {
    const context = await contextOf(sourceWith(4));
    const text = `SELECT mean(v) FROM m WHERE time >= 0 AND time < 3650d GROUP BY time(1ns) ${how}`;

    expect(await answer(text, context)).toContain('"values":[[');
  },
);

test('a query that would hold too much ends with an error that names the setting', async () => {
  const context = await contextOf(sourceWith(400), {
    limits: { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 1000 },
  });

  expect(await answer('SELECT v FROM m', context)).toContain('query-memory-limit exceeded');
});

test.each([
  ['time >= 9223372036854775807', 0],
  ['time > 9223372036854775807', 0],
  ['time = 9223372036854775807', 0],
  ['time < 9223372036854775807', 1],
  ['time <= 9223372036854775807', 1],
  ['time >= 9223372036854775806', 1],
])('WHERE %s finds %d points of the last instant', async (condition, count) => {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const time = 9_223_372_036_854_775_806n;
  source.write(DATABASE, 'autogen', [{ measurement: 'm', tags: [], fields: [['v', 1]], time }]);

  expect(await drain(`SELECT v FROM m WHERE ${condition}`, await contextOf(source))).toBe(count);
});

test('a million empty windows are a stream: LIMIT ends it early', async () => {
  const context = await contextOf(sourceWith(4));
  const text = 'SELECT count(v) FROM m WHERE time >= 0 GROUP BY time(1ns) LIMIT 2';

  expect(await answer(text, context)).toBe(
    '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","count"],"values":[[0,2],[0,0]]}]}]}\n',
  );
});

test('cancelling ends an endless stream of windows with the reason', async () => {
  const abort = new AbortController();
  let ms = 0;
  const context = await contextOf(sourceWith(4), {
    signal: abort.signal,
    limits: { ...DEFAULT_QUERY_LIMITS, maxFilledWindows: 0 },
    monotonicMs: () => (ms += 1),
  });
  const text = 'SELECT count(v) FROM m WHERE time >= 0 GROUP BY time(1ns)';
  let batches = 0;

  const run = async (): Promise<void> => {
    for await (const _ of execute(text, context)) {
      if (++batches === 3) abort.abort(new Error('query interrupted'));
    }
  };

  await expect(run()).rejects.toThrow('query interrupted');
  expect(batches).toBeLessThan(6);
});

test.each(['', ' ORDER BY time DESC', ' WHERE v > 30', ' LIMIT 7 OFFSET 3'])(
  'rows that are read in slices of time are the same%s',
  async (clauses) => {
    const source = sourceWith(300);
    const text = `SELECT v, host FROM m${clauses}`;
    const whole = await answer(text, await contextOf(source));
    const limits = { ...DEFAULT_QUERY_LIMITS, mergeRows: 20 };

    const sliced = await answer(text, await contextOf(source, { limits }));

    expect(sliced).toBe(whole);
  },
);

test.each(['host', 'host, none', '*'])(
  'rows of a group that is read in slices of time are the same with GROUP BY %s',
  async (dimensions) => {
    const source = sourceWith(300);
    source.write(
      DATABASE,
      'autogen',
      Array.from({ length: 100 }, (_, i) => ({
        measurement: 'm',
        tags: [
          ['host', 'a'],
          ['zone', i % 2 === 0 ? 'x' : 'y'],
        ] as const,
        fields: [['v', -i]] as const,
        time: BigInt(i) * SECOND + 1n,
      })),
    );
    for (const order of ['', ' ORDER BY time DESC', ' LIMIT 90 OFFSET 3']) {
      const text = `SELECT v, zone FROM m WHERE v < 280 GROUP BY ${dimensions}${order}`;
      const whole = await answer(text, await contextOf(source));
      const limits = { ...DEFAULT_QUERY_LIMITS, mergeRows: 20, maxSelectPoints: 600 };

      expect(await answer(text, await contextOf(source, { limits }))).toBe(whole);
      expect(whole).toContain('"values"');
    }
  },
);

test.each([
  ['even', (i: number) => i],
  ['crowded', (i: number) => (i < 300 ? i : i * 1_000_000)],
])(
  'texts of many rows are merged in slices of time, however they are spread: %s',
  async (_, secondOf) => {
    const source = new MemorySource();
    source.addPolicy(DATABASE, 'autogen', 604_800_000_000n * SECOND);
    const points = Array.from({ length: 400 }, (__, i) => ({
      measurement: 'm',
      tags: [['host', `h${i % 40}`]] as const,
      fields: [['t', `${i} `.repeat(2000)]] as const,
      time: BigInt(secondOf(i)) * SECOND,
    }));
    source.write(DATABASE, 'autogen', points);
    const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 800_000 };
    for (const order of ['', ' ORDER BY time DESC', ' LIMIT 390 OFFSET 3']) {
      const text = `SELECT t, host FROM m${order}`;
      const whole = await answer(text, await contextOf(source));

      // Not expected as a whole: a difference of megabytes takes a minute to print.
      expect((await answer(text, await contextOf(source, { limits }))) === whole).toBe(true);
      expect(whole.length).toBeGreaterThan(2_900_000);
    }
  },
);

test.each(['', ' ORDER BY time DESC'])(
  'slices of time are as wide as the rows that a condition leaves need%s',
  async (order) => {
    const source = new MemorySource();
    source.addPolicy(DATABASE, 'autogen', 604_800_000_000n * SECOND);
    const points = Array.from({ length: 4000 }, (_, i) => ({
      measurement: 'm',
      tags: [['host', `h${i % 4}`]] as const,
      fields: [
        ['v', i],
        ['rest', i % 97],
      ] as const,
      time: BigInt(i) * SECOND,
    }));
    source.write(DATABASE, 'autogen', points);
    const text = `SELECT v FROM m WHERE rest = 0${order}`;
    const whole = await answer(text, await contextOf(source));
    const limits = { ...DEFAULT_QUERY_LIMITS, mergeRows: 20 };
    const context = await contextOf(source, { limits });
    const inner = context.snapshot;
    let scans = 0;
    const snapshot: QueryContext['snapshot'] = {
      ...inner,
      scan(request, options) {
        scans++;
        return inner.scan(request, options);
      },
    };

    expect(await answer(text, { ...context, snapshot })).toBe(whole);
    // The first reads 20 rows; 42 of 4,000 are left.
    expect(scans).toBeGreaterThan(3);
    expect(scans).toBeLessThan(20);
  },
);

test('a group of one series is a stream: no more is held than a batch', async () => {
  const source = sourceWith(20_000);
  const limits = { ...DEFAULT_QUERY_LIMITS, maxQueryMemoryBytes: 1000 };

  expect(
    await answer('SELECT v FROM m GROUP BY *', await contextOf(source, { limits })),
  ).not.toContain('error');
});

test.each(['SELECT v FROM m WHERE $', 'SELECT v FROM (SELECT v FROM m) WHERE $'])(
  'a long condition gives way, notices cancellation and finds the same rows: %s',
  async (text) => {
    const source = sourceWith(2000);
    const wanted = Array.from({ length: 300 }, (_, i) => `v + 1 = ${i * 7 + 1}`).join(' OR ');
    const abort = new AbortController();
    let looks = 0;
    const cancelled = await contextOf(source, {
      signal: abort.signal,
      monotonicMs: () => {
        if (++looks === 40) abort.abort(new Error('query interrupted'));
        return looks;
      },
    });

    const rows = await answer(text.replace('$', wanted), await contextOf(source));
    expect(JSON.parse(rows).results[0].series[0].values).toHaveLength(286);
    await expect(async () => {
      for await (const _ of execute(text.replace('$', wanted), cancelled));
    }).rejects.toThrow('query interrupted');
  },
);

test('closing the answer early closes the scan', async () => {
  const source = sourceWith(100);
  const context = await contextOf(source);
  let isClosed = false;
  const inner = context.snapshot;
  const snapshot: QueryContext['snapshot'] = {
    ...inner,
    *scan(request, options) {
      try {
        yield* inner.scan(request, options);
      } finally {
        isClosed = true;
      }
    },
  };

  for await (const _ of execute('SELECT v FROM m GROUP BY host', { ...context, snapshot })) break;

  expect(isClosed).toBe(true);
});

test('a database that may not be read is refused, in a subquery too', async () => {
  const context = await contextOf(sourceWith(4), { canRead: () => false });

  expect(await answer('SELECT v FROM (SELECT v FROM m)', context)).toContain('not authorized');
});

test('a function that is nearly right comes with a suggestion', async () => {
  const context = await contextOf(sourceWith(4));

  await expect(async () => {
    for await (const _ of execute('SELECT maen(v) FROM m', context)) break;
  }).rejects.toMatchObject({ message: 'undefined function maen()', hint: 'did you mean mean()?' });
});

describe('means and changes of integers whose sum or difference takes more than 64 bits', () => {
  const STAMPS = Array.from({ length: 6 }, (_, i) => 1_700_000_000_000_000_000n + BigInt(i));
  const FAR = [2n ** 63n - 1n, -(2n ** 63n)];

  test.each([
    ['mean(v)', STAMPS, ALL, [1.7e18]],
    ['mean(v)', STAMPS, NONE, [1.7e18]],
    ['mean(v)', [-(2n ** 63n), -(2n ** 63n)], ALL, [-(2 ** 63)]],
    ['moving_average(v, 6)', STAMPS, ALL, [1.7e18]],
    ['median(v)', FAR, ALL, [0]],
    ['derivative(v)', FAR, ALL, [-(2 ** 64)]],
    ['non_negative_derivative(v)', FAR.toReversed(), ALL, [2 ** 64]],
  ] as const)('%s is right', async (call, values, functions, expected) => {
    const source = new MemorySource();
    source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
    const points = values.map((value, i) => ({
      measurement: 'm',
      tags: [],
      fields: [['v', value]] as const,
      time: BigInt(i) * SECOND,
    }));
    source.write(DATABASE, 'autogen', points);
    const foldFunctions =
      functions.size === 0 ? new Set<never>() : source.capabilities.foldFunctions;
    const capabilities = { ...source.capabilities, aggregateFunctions: functions, foldFunctions };
    const context = await contextOf(source, { capabilities });

    const { results } = JSON.parse(await answer(`SELECT ${call} FROM m`, context));

    expect(results[0].series[0].values.map((row: unknown[]) => row[1])).toEqual(expected);
  });
});

test.each([
  "SELECT top(v, 3) FROM m WHERE host = 'a'",
  "SELECT top(v, 2) FROM m WHERE host = 'a' AND time < 9s GROUP BY time(3s)",
  'SELECT bottom(v, 4) FROM m GROUP BY host',
])('%s answers the newest first with ORDER BY time DESC', async (text) => {
  const series = async (order: string): Promise<{ readonly values: unknown[][] }[]> =>
    JSON.parse(await answer(text + order, await contextOf(sourceWith(20)))).results[0].series;

  const ascending = await series('');

  const reversed = ascending.toReversed();
  expect(await series(' ORDER BY time DESC')).toEqual(
    reversed.map((one) => ({ ...one, values: one.values.toReversed() })),
  );
});

test('aggregates of many measurements are asked for at once', async () => {
  const source = new MemorySource();
  source.addPolicy(DATABASE, 'autogen', 604_800n * SECOND);
  const points = Array.from({ length: 600 }, (_, i) => ({
    measurement: `m${i % 300}`,
    tags: [['host', i < 300 ? 'a' : 'b']] as const,
    fields: [['v', i % 300]] as const,
    time: 1n,
  }));
  source.write(DATABASE, 'autogen', points);
  const context = await contextOf(source);
  let requests = 0;
  const snapshot: QueryContext['snapshot'] = {
    ...context.snapshot,
    aggregate(...request) {
      requests++;
      return context.snapshot.aggregate(...request);
    },
  };

  const text = 'SELECT count(v), sum(v) FROM /.*/ GROUP BY host';
  const { results } = JSON.parse(await answer(text, { ...context, snapshot }));

  expect(requests).toBe(1);
  const names = Array.from({ length: 300 }, (_, i) => `m${i}`).sort();
  expect(results[0].series).toEqual(
    names.flatMap((name) =>
      ['a', 'b'].map((host) => ({
        name,
        tags: { host },
        columns: ['time', 'count', 'sum'],
        values: [[0, 1, Number(name.slice(1))]],
      })),
    ),
  );
});
