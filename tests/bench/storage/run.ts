// Benchmarks of the storage engine: durable ingest, and the work of the query set through
// SeriesSource.
// `packages/cli/bin/node --conditions=source tests/bench/storage/run.ts [hosts] [hours]`; prints
// one line per measurement.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';

import { cpuBodies, FIELDS, HOUR_NANOS, START } from './bodies.ts';
import { POLICY } from './policy.ts';
import { eachBatch } from '@tidemark/query';
import type { Operator } from '@tidemark/query';

const [hosts = 100, hours = 2] = process.argv.slice(2).map(Number);
const REPEATS = 7;

const policy = { ...POLICY, database: 'bench' };

const directory = mkdtempSync(join(tmpdir(), 'storage-bench-'));
const bodies = [...cpuBodies({ hosts, hours })];
const engine = await openStorageInline({ directory });

let values = 0;
const began = performance.now();
let next = 0;
const client = async (): Promise<void> => {
  while (next < bodies.length) {
    const body = bodies[next++]!;
    values += (await engine.writeLines({ policy, body, precision: 'ns', now: 0n })).valuesWritten;
  }
};
await Promise.all([client(), client()]);
print('durable ingest, M values/s', values / (performance.now() - began) / 1000);
await engine.flush();
await engine.compact();
const { counters } = await engine.statistics();
print('bytes per value', (counters['segmentBytes'] ?? 0) / values);

const source = { database: 'bench', retentionPolicy: 'autogen', measurement: 'cpu' };
const all = { start: START, end: START + BigInt(hours) * HOUR_NANOS };
const windowed = (fields: readonly string[], name: 'max' | 'mean') =>
  fields.map((field) => ({ field, type: 'integer' as const, functions: [name] }));
const minute = { everyNanos: 60_000_000_000n, offsetNanos: 0n };
const hour = { everyNanos: HOUR_NANOS, offsetNanos: 0n };
const wanted = FIELDS.map((name) => ({ name, type: 'integer' as const }));
const host = { kind: 'tag', key: 'hostname', operator: '=', value: 'host_1' } as const;
const common = { sources: [source], descending: false, groupBy: [] as string[] };

await measure('single-groupby-1-1-1', (s, o) =>
  s.aggregate(
    {
      ...common,
      timeRange: { start: START, end: START + HOUR_NANOS - 1n },
      where: host,
      aggregates: windowed(FIELDS.slice(0, 1), 'max'),
      window: minute,
    },
    o,
  ),
);
await measure('double-groupby-all', (s, o) =>
  s.aggregate(
    {
      ...common,
      timeRange: { start: all.start + 1n, end: all.end - 1n },
      groupBy: ['hostname'],
      aggregates: windowed(FIELDS, 'mean'),
      window: hour,
    },
    o,
  ),
);
await measure('full-mean-by-host', (s, o) =>
  s.aggregate(
    { ...common, timeRange: all, groupBy: ['hostname'], aggregates: windowed(FIELDS, 'mean') },
    o,
  ),
);
await measure('lastpoint', (s, o) =>
  s.scan(
    {
      source,
      timeRange: all,
      descending: true,
      groupBy: ['hostname'],
      fields: wanted,
      limitPerSeries: 1,
    },
    o,
  ),
);
await measure('groupby-orderby-limit', (s, o) =>
  s.aggregate(
    {
      ...common,
      timeRange: all,
      descending: true,
      aggregates: windowed(FIELDS.slice(0, 1), 'max'),
      window: minute,
      limitWindows: 5,
    },
    o,
  ),
);
await measure('high-cpu-all', (s, o) =>
  s.scan(
    {
      source,
      timeRange: all,
      descending: false,
      groupBy: 'all',
      fields: wanted,
      where: { kind: 'field', field: 'usage_0', operator: '>', value: 90 },
    },
    o,
  ),
);
await engine.close();
rmSync(directory, { recursive: true, force: true });

type Snapshot = ReturnType<typeof engine.source.snapshot>;

async function measure(
  name: string,
  ask: (snapshot: Snapshot, options: { signal: AbortSignal }) => Operator<unknown>,
): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const start = performance.now();
    const snapshot = engine.source.snapshot();
    for await (const _ of eachBatch(ask(snapshot, { signal: new AbortController().signal })));
    snapshot.close();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  print(`${name}, p50 ms`, times[Math.floor(REPEATS / 2)] ?? 0);
}

function print(what: string, value: number): void {
  console.log(`${what.padEnd(36)} ${value.toFixed(3)}`);
}
