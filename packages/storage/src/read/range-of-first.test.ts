// The first rows of a group with texts are found wherever they are, and times are read only of the
// chunks that may have them.
import { eachBatch, zeroCounters } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';

import { Segment } from '../segment/segment.ts';
import { EVERYTHING, numbers, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const TEXTS: ScanRequest = {
  source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
  timeRange: EVERYTHING,
  descending: false,
  groupBy: [],
  fields: [{ name: 's', type: 'string' }],
};

/** Series and time of each row, in the order of the request, those of one time in any. */
async function rowsOf(
  { engine }: TestEngine,
  request: Partial<ScanRequest>,
): Promise<{ readonly rows: readonly string[]; readonly seriesVisited: number }> {
  const snapshot = engine.source.snapshot();
  const counters = zeroCounters();
  const rows: { readonly time: bigint; readonly series: string }[] = [];
  try {
    const { signal } = new AbortController();
    const options = { signal, counters };
    for await (const batch of eachBatch(snapshot.scan({ ...TEXTS, ...request }, options))) {
      for (const time of batch.times) rows.push({ time, series: batch.seriesKey });
    }
  } finally {
    snapshot.close();
  }
  const direction = request.descending === true ? -1 : 1;
  rows.sort((a, b) => {
    if (a.time !== b.time) return a.time < b.time ? -direction : direction;
    return a.series < b.series ? -1 : 1;
  });
  const { seriesVisited } = counters;
  return { rows: rows.map(({ time, series }) => `${time} ${series}`), seriesVisited };
}

const timeOf = (row: string | undefined): string | undefined => row?.split(' ')[0];

test('the first rows are those of all rows', async () => {
  const data = fc.record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    // With few different times, rows are tied.
    times: fc.constantFrom(5, 100, 100_000),
    steps: fc.array(
      fc.record({
        rows: fc.constantFrom(3, 100, 800),
        after: fc.constantFrom('flush', 'flush', 'compact', 'delete', 'nothing'),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  });
  await fc.assert(
    fc.asyncProperty(data, async ({ seed, times, steps }) => {
      const next = numbers(seed);
      const subject = await testEngine();
      const { engine } = subject;
      try {
        for (const { rows, after } of steps) {
          const lines = Array.from({ length: rows }, () => {
            const series = next() % 12;
            const field = next() % 20 === 0 ? 'n=1i' : `s="${next() % 50}"`;
            // Of series with higher numbers, rows are newer.
            return `m,t=${series} ${field} ${series * 50 + (next() % times)}`;
          });
          await write(engine, lines.join('\n'));
          if (after === 'flush') await engine.flush();
          if (after === 'compact') {
            await engine.flush();
            await engine.compact();
          }
          const start = BigInt(next() % times);
          const timeRange = { start, end: start + BigInt(next() % 50) };
          if (after === 'delete') await engine.delete({ database: 'db', timeRange });
        }
        const some = { start: 20n, end: BigInt(Math.floor(times / 2)) + 100n };
        for (const timeRange of [EVERYTHING, some]) {
          for (const descending of [false, true]) {
            const all = (await rowsOf(subject, { timeRange, descending })).rows;
            for (const limit of [1, 5, 40, 2000]) {
              const limits = { limitPerSeries: limit, limitPerGroup: limit };
              const found = await rowsOf(subject, { timeRange, descending, ...limits });
              // Rows of the time of the last one belong to them. Each series has one at most.
              const last = timeOf(all[Math.min(limit, all.length) - 1]);
              const end = all.findLastIndex((row) => timeOf(row) === last) + 1;
              expect(found.rows.slice(0, end)).toEqual(all.slice(0, end));
            }
          }
        }
      } finally {
        await subject.dispose();
      }
    }),
    { numRuns: 25 },
  );
});

test('only series that may have the first rows are visited, and times read of their chunks', async () => {
  const subject = await testEngine();
  try {
    // Series i has rows until 1000 * i.
    const lines = Array.from({ length: 4000 }, (_, i) => {
      const series = 1 + (i % 40);
      return `m,t=${series} s="text ${i}" ${1000 * series - Math.floor(i / 40)}`;
    });
    await write(subject.engine, lines.join('\n'));
    await subject.engine.flush();
    const cacheTimes = vi.spyOn(Segment.prototype, 'cacheTimes');

    const limits = { limitPerSeries: 3, limitPerGroup: 3 };
    const newest = await rowsOf(subject, { descending: true, ...limits });

    expect(newest.rows).toEqual(['40000 m,t=40', '39999 m,t=40', '39998 m,t=40']);
    expect(newest.seriesVisited).toBe(1);
    // Those of the series that have the three newest ones.
    expect(cacheTimes.mock.calls.length).toBeLessThanOrEqual(3);
  } finally {
    await subject.dispose();
  }
});
