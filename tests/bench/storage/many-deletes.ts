// A query after many deletes of some rows of some series: every tombstone used to be held against
// every block. Each delete is about one row of each series of a group: about all rows of the first
// group in turn, then of the next; behind the last group deletes find nothing. Arguments: series,
// rows of each, deletes, groups.
// `packages/cli/bin/node --conditions=source tests/bench/storage/many-deletes.ts`
import { eachBatch } from '@tidemark/query';
import type { StorageEngine } from '@tidemark/storage-api';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';
import { Bench } from './steps.ts';

const [seriesCount = 100_000, rowsEach = 10, deletes = 300, groups = 1] = process.argv
  .slice(2)
  .map(Number);
const ROWS_PER_BODY = 10_000;
const SERIES_PER_GROUP = 2000;
/** Between two rows of a series: deletes are about a small part of it. */
const STEP = 1000;

const { database, retentionPolicy } = POLICY;

async function load(engine: StorageEngine): Promise<void> {
  for (let first = 0; first < seriesCount * rowsEach; first += ROWS_PER_BODY) {
    const lines = Array.from({ length: ROWS_PER_BODY }, (_, i) => {
      const series = Math.floor((first + i) / rowsEach);
      const group = series % Math.ceil(seriesCount / SERIES_PER_GROUP);
      return `dev,grp=g${group},id=${series} v=${i} ${((first + i) % rowsEach) * STEP}`;
    });
    const body = new TextEncoder().encode(lines.join('\n'));
    await engine.writeLines({ policy: POLICY, body, precision: 's', now: 0n });
  }
  await engine.flush();
}

async function count(engine: StorageEngine): Promise<number> {
  const snapshot = engine.source.snapshot();
  const request = {
    sources: [{ database, retentionPolicy, measurement: 'dev' }],
    timeRange: { start: -(2n ** 62n), end: 2n ** 62n },
    descending: false,
    groupBy: [],
    aggregates: [{ field: 'v', type: 'float' as const, functions: ['count' as const] }],
  };
  let rows = 0;
  try {
    const batches = snapshot.aggregate(request, { signal: new AbortController().signal });
    for await (const { fields } of eachBatch(batches)) {
      const [counts] = fields.flat();
      if (counts !== undefined && 'values' in counts.values)
        rows += Number(counts.values.values[0]);
    }
  } finally {
    snapshot.close();
  }
  return rows;
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const cpu = cpuMs();
  const result = await work();
  const wall = (performance.now() - began).toFixed(1).padStart(9);
  console.log(`${what.padEnd(34)} ${wall} ms, CPU ${(cpuMs() - cpu).toFixed(1).padStart(9)} ms`);
  return result;
}

const bench = new Bench();
const engine = await bench.open();
await load(engine);
await timed('count without deletes, first', () => count(engine));
await timed('count without deletes, again', () => count(engine));
await timed(`${deletes} deletes`, async () => {
  for (let i = 0; i < deletes; i++) {
    const start = BigInt((i % rowsEach) * STEP) * 1_000_000_000n;
    await engine.delete({
      database,
      measurements: ['dev'],
      where: {
        kind: 'tag',
        key: 'grp',
        operator: '=',
        value: `g${Math.floor(i / rowsEach) % groups}`,
      },
      timeRange: { start, end: start + 500_000_000_000n },
    });
  }
});
console.log(`rows left: ${await timed('count, first', () => count(engine))}`);
await timed('count, again', () => count(engine));
await bench.close();
