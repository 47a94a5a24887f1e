// Reads of long strings: they hold only strings of the rows in the result, in batches of limited
// size, counted as memory of the request.
import { LimitExceeded, textAt, textCount } from '@tidemark/core';
import { eachBatch, zeroCounters } from '@tidemark/query';
import type { AggregateRequest, ScanRequest, SeriesBatch, SourceCounters } from '@tidemark/query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { codecs } from '../columns/codecs.ts';
import { threadHeap } from '../columns/thread-heap.ts';
import { aggregateRows, EVERYTHING, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { AGGREGATES_PACKING } from '../thread/packed-aggregates.ts';
import { ROWS_PACKING } from '../thread/packed-rows.ts';

const { signal } = new AbortController();
const SERIES = 5;
const ROWS = 100;

let subject: TestEngine;
beforeEach(async () => {
  subject = await testEngine();
});
afterEach(() => subject.dispose());

const textOf = (series: number, row: number): string => `${series}-${row}-`.padEnd(3000, 'x');

/** Rows in the order of time, over all series. */
function lines(firstRow = 0): string {
  const all: string[] = [];
  for (let row = firstRow; row < ROWS; row++) {
    for (let series = 0; series < SERIES; series++) {
      all.push(`m,t=${series} s="${textOf(series, row)}",n=${row}i ${row}`);
    }
  }
  return all.join('\n');
}

type Read = { readonly batches: readonly SeriesBatch[]; readonly counters: SourceCounters };

async function scanned(
  request: Partial<ScanRequest> = {},
  memoryLimitBytes?: number,
): Promise<Read> {
  const snapshot = subject.engine.source.snapshot();
  const counters = zeroCounters();
  const batches: SeriesBatch[] = [];
  const whole: ScanRequest = {
    source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
    timeRange: EVERYTHING,
    descending: false,
    groupBy: [],
    fields: [{ name: 's', type: 'string' }],
    ...request,
  };
  try {
    const options = { signal, counters, memoryLimitBytes };
    for await (const batch of eachBatch(snapshot.scan(whole, options))) batches.push(batch);
  } finally {
    snapshot.close();
  }
  return { batches, counters };
}

function texts({ batches }: Read): string[] {
  return batches.flatMap(({ columns: [column] }) =>
    column?.type === 'string' ? Array.from(column.codes, (code) => textAt(column.texts, code)) : [],
  );
}

function carried({ batches }: Read): number {
  let count = 0;
  for (const { columns } of batches) {
    for (const column of columns) if (column.type === 'string') count += textCount(column.texts);
  }
  return count;
}

test('texts that are read again and again count as objects that the heap is watched for', async () => {
  await write(subject.engine, lines());
  await subject.engine.flush();
  const made = vi.spyOn(threadHeap, 'made');
  const count = (): number => made.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);

  await scanned();
  const once = count();
  expect(once).toBeGreaterThanOrEqual(SERIES * ROWS * 3000);
  const last = [{ field: 's', type: 'string', functions: ['last'] }] as const;
  await aggregateRows(subject.engine, 'm', last, {
    window: { everyNanos: 10n, offsetNanos: 0n },
  });
  expect(count()).toBeGreaterThanOrEqual(once + SERIES * ROWS * 3000);
});

test.each(['in memory', 'in a segment'])(
  'a limit carries the texts of its rows only, %s',
  async (where) => {
    await write(subject.engine, lines());
    if (where === 'in a segment') await subject.engine.flush();

    const last = await scanned({ descending: true, limitPerSeries: 3 });
    const first = await scanned({ limitPerSeries: 2 });

    const wanted = (rows: readonly number[]): string[] =>
      [0, 1, 2, 3, 4].flatMap((series) => rows.map((row) => textOf(series, row)));
    expect(texts(last).toSorted()).toEqual(wanted([99, 98, 97]).toSorted());
    expect(carried(last)).toBe(3 * SERIES);
    expect(texts(first)).toEqual(wanted([0, 1]));
    expect(carried(first)).toBe(2 * SERIES);
  },
);

test.each(['in memory', 'in a segment'])(
  'a condition carries the texts of its rows only, %s',
  async (where) => {
    await write(subject.engine, lines());
    if (where === 'in a segment') await subject.engine.flush();

    const found = await scanned({
      where: { kind: 'field', field: 'n', operator: '>', value: 97n },
    });

    expect(texts(found)).toEqual(
      [0, 1, 2, 3, 4].flatMap((series) => [textOf(series, 98), textOf(series, 99)]),
    );
    expect(carried(found)).toBe(2 * SERIES);
  },
);

test('rows without a text keep their place when only some rows are read', async () => {
  const all = Array.from({ length: 64 }, (_, i) =>
    i % 3 === 0 ? `m,t=0 n=${i}i ${i}` : `m,t=0 n=${i}i,s="${textOf(0, i)}" ${i}`,
  );
  await write(subject.engine, all.join('\n'));
  await subject.engine.flush();

  const { batches } = await scanned({
    where: { kind: 'field', field: 'n', operator: '>', value: 57n },
    fields: [
      { name: 's', type: 'string' },
      { name: 'n', type: 'integer' },
    ],
  });

  const [column] = batches[0]!.columns;
  expect(column?.type === 'string' && [...column.valid!]).toEqual([1, 1, 0, 1, 1, 0]);
  expect(texts({ batches } as Read).filter((_, i) => i % 3 !== 2)).toEqual(
    [58, 59, 61, 62].map((row) => textOf(0, row)),
  );
});

test('no batch is much larger than a message, wherever its rows come from', async () => {
  await write(subject.engine, lines());
  const fromMemory = await scanned();
  await subject.engine.flush();
  const fromSegment = await scanned();

  for (const { batches } of [fromMemory, fromSegment]) {
    expect(batches.length).toBeGreaterThan(SERIES);
    for (const batch of batches) expect(ROWS_PACKING.sizeOf(batch)).toBeLessThan(300 << 10);
  }
  expect(texts(fromSegment)).toEqual(texts(fromMemory));
});

test('texts of rows that overlap count as memory of the request', async () => {
  await write(subject.engine, lines());
  await subject.engine.flush();
  await write(subject.engine, lines(50));

  await expect(scanned({}, 200_000)).rejects.toThrow(LimitExceeded);
  await expect(scanned({}, 200_000)).rejects.toThrow(/coordinator.query-memory-limit/);
  expect(texts(await scanned({}, 4 << 20))).toHaveLength(SERIES * ROWS);
});

test('the last texts of groups count as memory of the request, in batches of limited size', async () => {
  const { engine } = subject;
  const many = Array.from({ length: 400 }, (_, i) => `w s="${textOf(0, i)}" ${i}`);
  await write(engine, many.join('\n'));
  const request: AggregateRequest = {
    sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'w' }],
    timeRange: EVERYTHING,
    descending: false,
    groupBy: [],
    window: { everyNanos: 1n, offsetNanos: 0n },
    aggregates: [{ field: 's', type: 'string', functions: ['last'] }],
  };
  const read = async (memoryLimitBytes: number): Promise<number> => {
    const snapshot = engine.source.snapshot();
    try {
      let windows = 0;
      const batches = snapshot.aggregate(request, { signal, memoryLimitBytes });
      for await (const batch of eachBatch(batches)) {
        windows += batch.windowStarts.length;
        expect(AGGREGATES_PACKING.sizeOf(batch)).toBeLessThan(300 << 10);
      }
      return windows;
    } finally {
      snapshot.close();
    }
  };

  await expect(read(500_000)).rejects.toThrow(LimitExceeded);
  expect(await read(8 << 20)).toBe(400);
});

test('a regular expression over the field that is wanted reads it once', async () => {
  await write(subject.engine, lines());
  await subject.engine.flush();
  const plain = await scanned();

  const matched = await scanned({
    where: { kind: 'field-regex', field: 's', operator: '=~', pattern: '^3-4' },
  });

  expect(texts(matched)).toHaveLength(11);
  expect(matched.counters.bytesRead).toBeLessThanOrEqual(plain.counters.bytesRead);
});

test('first and last of whole chunks are read from the chunks at the ends', async () => {
  const { engine } = subject;
  await write(engine, lines());
  await engine.flush();
  const functions = ['count', 'first', 'last'] as const;
  const before = await aggregateRows(engine, 'm', [{ field: 's', type: 'string', functions }]);

  expect(before[0]?.values).toEqual([
    [BigInt(SERIES * ROWS)],
    // At equal times, the largest text is chosen.
    [textOf(4, 0), 0n],
    [textOf(4, 99), 99n],
  ]);
});

test.each([
  ['=~', 'NEEDLE.*x', 1],
  ['!~', 'NEEDLE', SERIES * ROWS - 1],
  ['=~', '^[0-4]-7-', SERIES],
] as const)(
  'texts are searched for without becoming strings: %s %s',
  async (operator, pattern, rows) => {
    await write(subject.engine, lines());
    await write(subject.engine, `m,t=3 s="a NEEDLE among ${'x'.repeat(3000)}",n=1i 1`);
    await subject.engine.flush();
    const made = vi.spyOn(threadHeap, 'made').mockClear();
    const where = { kind: 'field-regex', field: 's', operator, pattern } as const;

    const read = await scanned({ where, fields: [{ name: 'n', type: 'integer' }] });
    expect(read.batches.reduce((sum, { times }) => sum + times.length, 0)).toBe(rows);
    const bytes = made.mock.calls.reduce((sum, [size]) => sum + size, 0);
    // All texts are 1.5 MB.
    expect(bytes).toBeLessThan(100_000);
  },
);

test.each([
  ['=', 1],
  ['!=', SERIES * ROWS - 1],
] as const)('a text is compared without making strings of others: %s', async (operator, rows) => {
  await write(subject.engine, lines());
  await subject.engine.flush();
  const made = vi.spyOn(threadHeap, 'made').mockClear();
  const where = { kind: 'field', field: 's', operator, value: textOf(2, 9) } as const;

  const read = await scanned({ where, fields: [{ name: 'n', type: 'integer' }] });
  expect(read.batches.reduce((sum, { times }) => sum + times.length, 0)).toBe(rows);
  expect(made.mock.calls.reduce((sum, [size]) => sum + size, 0)).toBeLessThan(100_000);
});

test('frames of texts are unpacked only for rows of the answer', async () => {
  await write(subject.engine, lines());
  await subject.engine.flush();
  const framesOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = codecs().texts.unpackedFrames;
    await work();
    return codecs().texts.unpackedFrames - before;
  };
  const last = [{ field: 's', type: 'string', functions: ['last'] }] as const;
  const where = { kind: 'field', field: 'n', operator: '>', value: 97n } as const;

  // A series has a hundred texts of 3,000 bytes: nineteen frames.
  expect(await framesOf(() => scanned())).toBe(SERIES * 19);
  expect(await framesOf(() => scanned({ descending: true, limitPerSeries: 3 }))).toBe(SERIES);
  expect(await framesOf(() => scanned({ where }))).toBe(SERIES);
  // The last text of each series, because they have the same time.
  expect(await framesOf(() => aggregateRows(subject.engine, 'm', last))).toBe(SERIES);
});

test('the same where some rows have no text', async () => {
  const withNulls = lines().replaceAll(/ s="(\d)-\d*3-x*",n=/g, ' n=');
  await write(subject.engine, withNulls);
  await subject.engine.flush();
  const fields = [
    { name: 's', type: 'string' },
    { name: 'n', type: 'integer' },
  ] as const;
  const framesOf = async (request: Partial<ScanRequest>): Promise<number> => {
    const before = codecs().texts.unpackedFrames;
    await scanned({ fields, ...request });
    return codecs().texts.unpackedFrames - before;
  };
  const where = { kind: 'field', field: 'n', operator: '>', value: 97n } as const;

  // Ninety texts of each series, in seventeen frames.
  expect(await framesOf({})).toBe(SERIES * 17);
  expect(await framesOf({ descending: true, limitPerSeries: 3 })).toBe(SERIES);
  expect(await framesOf({ where })).toBe(SERIES);
  // Row 93 has no text.
  const timeRange = { start: 93n, end: 93n };
  expect(await framesOf({ timeRange })).toBe(0);
});
