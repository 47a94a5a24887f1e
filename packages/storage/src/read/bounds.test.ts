import { Cancelled, LimitExceeded, systemClock } from '@tidemark/core';
import { eachBatch, zeroCounters } from '@tidemark/query';
import type {
  Operator,
  Predicate,
  ScanRequest,
  SchemaBatch,
  SchemaRequest,
  SeriesBatch,
  SourceSnapshot,
} from '@tidemark/query';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { EVERYTHING, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { STEP_ELEMENTS } from '../schedule/steps.ts';

const SERIES = 10 * STEP_ELEMENTS;

let subject: TestEngine;
let nowMs = 0;

beforeAll(async () => {
  // Every look at the clock finds a slice used up: each place where work may pause is a turn of the
  // event loop.
  const clock = { ...systemClock(), monotonicMs: () => (nowMs += 1000) };
  subject = await testEngine({ snapshotMaxAgeMs: Number.MAX_SAFE_INTEGER }, { clock });
  const lines = Array.from({ length: SERIES }, (_, i) => `m,host=h${(i * 7919) % SERIES} f=${i} 1`);
  await write(subject.engine, lines.join('\n'));
  const overlapping = Array.from({ length: 1000 }, (_, i) => `late f=${i} ${i}`);
  await write(subject.engine, overlapping.join('\n'));
  await subject.engine.flush();
  await write(subject.engine, overlapping.join('\n'));
});

afterAll(() => subject.dispose());

const source = { database: 'db', retentionPolicy: 'autogen', measurement: 'm' };
const where: Predicate = { kind: 'tag-regex', key: 'host', operator: '=~', pattern: '7{2,3}' };
const rows: ScanRequest = {
  source,
  timeRange: EVERYTHING,
  descending: false,
  groupBy: ['host'],
  fields: [{ name: 'f', type: 'float' }],
};

async function withSnapshot<T>(use: (snapshot: SourceSnapshot) => Promise<T>): Promise<T> {
  const snapshot = subject.engine.source.snapshot();
  try {
    return await use(snapshot);
  } finally {
    snapshot.close();
  }
}

/** A look-up of all series of `m`, or of the values of its tag. */
function listing(kind: 'tag-values' | 'series'): SchemaRequest {
  const filter = { database: 'db', measurements: ['m'] };
  return kind === 'series'
    ? { kind, filter }
    : { kind, filter, keys: { kind: 'in', keys: ['host'] } };
}

function entries({ value }: IteratorResult<SchemaBatch>): readonly string[] {
  if (value?.kind === 'series') return value.keys;
  return value?.kind === 'tag-values' ? value.values : [];
}

/** Turns of the event loop until the work is done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  let turns = 0;
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  return turns;
}

const { signal } = new AbortController();

describe('requests over many series give way', () => {
  test('while tag values are matched', async () => {
    await withSnapshot(async (snapshot) => {
      const batches = snapshot.scan({ ...rows, where }, { signal });

      const first = eachBatch(batches).next();

      // One pause for every step of distinct values, not counting those of grouping.
      expect(await turnsOf(first)).toBeGreaterThanOrEqual(SERIES / STEP_ELEMENTS);
    });
  });

  test('while groups are sorted, in the order of their tags all the same', async () => {
    await withSnapshot(async (snapshot) => {
      const hosts: string[] = [];
      const all = (async () => {
        for await (const { tags } of eachBatch(
          snapshot.scan({ ...rows, limitPerSeries: 1 }, { signal }),
        )) {
          hosts.push(tags.get('host') ?? '');
          if (hosts.length === 3000) break;
        }
      })();

      expect(await turnsOf(all)).toBeGreaterThan((4 * SERIES) / STEP_ELEMENTS);
      const sorted = Array.from({ length: SERIES }, (_, i) => `h${i}`).toSorted();
      expect(hosts).toEqual(sorted.slice(0, 3000));
    });
  });

  test.each(['tag-values', 'series'] as const)('while %s are listed', async (kind) => {
    await withSnapshot(async (snapshot) => {
      const batches = eachBatch(snapshot.schema(listing(kind), { signal }));

      expect(await turnsOf(batches.next())).toBeGreaterThan(SERIES / STEP_ELEMENTS);
      // Each step hands over a part of the list.
      for (let left = SERIES - STEP_ELEMENTS; left > 0; left -= STEP_ELEMENTS) {
        expect(entries(await batches.next())).toHaveLength(STEP_ELEMENTS);
      }
      expect(await batches.next()).toEqual({ done: true, value: undefined });
    });
  });
});

describe('a cancelled request', () => {
  test('ends while it selects its series', async () => {
    await withSnapshot(async (snapshot) => {
      const abort = new AbortController();
      const counters = zeroCounters();
      const batches = snapshot.scan({ ...rows, where }, { signal: abort.signal, counters });
      const first = eachBatch(batches).next();
      await new Promise((resolve) => setImmediate(resolve));

      abort.abort();

      await expect(first).rejects.toThrow(Cancelled);
      expect(counters.seriesVisited).toBe(0);
    });
  });

  test('reads no further series', async () => {
    await withSnapshot(async (snapshot) => {
      const abort = new AbortController();
      const counters = zeroCounters();
      const batches = snapshot.scan(rows, { signal: abort.signal, counters });
      const seen: SeriesBatch[] = [];
      const all = (async () => {
        for await (const batch of eachBatch(batches)) {
          if (seen.push(batch) === 5) abort.abort();
        }
      })();

      await expect(all).rejects.toThrow(Cancelled);
      expect(seen).toHaveLength(5);
      expect(counters.seriesVisited).toBe(5);
    });
  });
});

describe('memory of a request is limited', () => {
  const drain = async (batches: Operator<unknown>): Promise<number> => {
    let count = 0;
    for await (const _ of eachBatch(batches)) count++;
    return count;
  };

  test.each([
    ['series', { ...rows, groupBy: ['absent'] }, 11 * SERIES],
    ['groups in their order', rows, 27 * SERIES],
    ['series without groups', { ...rows, groupBy: [] }, 3 * SERIES],
    ['series in their order', { ...rows, groupBy: [] }, 19 * SERIES],
  ])('of its %s', async (_, request, memoryLimitBytes) => {
    await withSnapshot(async (snapshot) => {
      const work = drain(snapshot.scan(request, { signal, memoryLimitBytes }));

      await expect(work).rejects.toThrow(LimitExceeded);
      await expect(work).rejects.toThrow('coordinator.query-memory-limit');
    });
  });

  test('of an aggregation over many series, which need not be put in order', async () => {
    const aggregateOf = (name: 'count' | 'sum') =>
      ({
        ...rows,
        sources: [rows.source],
        groupBy: [],
        aggregates: [{ field: 'f', type: 'float', functions: [name] }],
      }) as const;
    await withSnapshot(async (snapshot) => {
      const read = (name: 'count' | 'sum', memoryLimitBytes: number): Promise<number> =>
        drain(snapshot.aggregate(aggregateOf(name), { signal, memoryLimitBytes }));

      await expect(read('count', 5 * SERIES)).rejects.toThrow('groups of series');
      expect(await read('count', 7 * SERIES)).toBe(1);
      expect(await read('sum', 7 * SERIES)).toBe(1);
    });
  });

  test('of an aggregation, which holds one measurement after another', async () => {
    const aggregates = [{ field: 'f', type: 'float', functions: ['sum'] }] as const;
    const sources = Array.from({ length: 3 }, () => rows.source);
    await withSnapshot(async (snapshot) => {
      const request = { ...rows, sources, groupBy: [], aggregates };
      const work = snapshot.aggregate(request, { signal, memoryLimitBytes: 7 * SERIES });

      expect(await drain(work)).toBe(3);
    });
  });

  test.each(['tag-values', 'series'] as const)('of a list of %s', async (kind) => {
    await withSnapshot(async (snapshot) => {
      const read = (memoryLimitBytes: number): Promise<number> =>
        drain(snapshot.schema(listing(kind), { signal, memoryLimitBytes }));

      await expect(read(15 * SERIES)).rejects.toThrow('coordinator.query-memory-limit');
      expect(await read(18 * SERIES)).toBe(SERIES / STEP_ELEMENTS);
    });
  });

  test('of rows that overlap and are merged, in scans and aggregates', async () => {
    const late = { ...rows, source: { ...source, measurement: 'late' }, groupBy: [] };
    const aggregates = [{ field: 'f', type: 'float', functions: ['sum'] }] as const;
    await withSnapshot(async (snapshot) => {
      const read = (memoryLimitBytes: number): Operator<unknown>[] => [
        snapshot.scan(late, { signal, memoryLimitBytes }),
        snapshot.aggregate(
          { ...late, sources: [late.source], aggregates },
          { signal, memoryLimitBytes },
        ),
      ];

      // Two runs of 1,000 rows of 17 bytes, in three copies.
      for (const work of read(101_000)) await expect(drain(work)).rejects.toThrow('overlap');
      for (const work of read(104_000)) expect(await drain(work)).toBe(1);
    });
  });
});
