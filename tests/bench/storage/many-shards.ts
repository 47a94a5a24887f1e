// Very many shards in very many databases: what a commit costs that changes one of them, how long
// opening takes until a count of one database is there, and the memory that an idle shard and an
// idle database take. Arguments: databases, shards of each.
// `packages/cli/bin/node --expose-gc --conditions=source tests/bench/storage/many-shards.ts`
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { NANOS_PER_WEEK } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { openStorageInline } from '@tidemark/storage';
import type { StorageEngine } from '@tidemark/storage-api';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';
import { Bench } from './steps.ts';

const [databases = 500, shards = 10] = process.argv.slice(2, 4).map(Number);
const openedDirectory = process.argv[4];
const SERIES = 10;
/** Of each series, in each shard. */
const ROWS = 5;
const DATABASES_PER_FLUSH = 100;
const COMMITS = 100;
/** So many times the shards, to tell what a shard takes from what its database takes. */
const MORE = 3;
const START_NANOS = 1_700_000_000_000_000_000n;

type Opened = { readonly ms: number; readonly cpuMs: number; readonly residentMiB: number };

if (openedDirectory === undefined) await measureAll();
else process.stdout.write(JSON.stringify(await measureOpening(openedDirectory)));

async function measureAll(): Promise<void> {
  const empty = openInOwnProcess(await filled(0, 0, async () => undefined));
  const opened = openInOwnProcess(await filled(databases, shards, measureCommits));
  print('open and first answer, ms', opened.ms);
  print('  CPU ms', opened.cpuMs);
  print('memory, MiB', opened.residentMiB);
  const more = openInOwnProcess(await filled(databases, MORE * shards, async () => undefined));
  const perShard =
    (more.residentMiB - opened.residentMiB) / (databases * (MORE - 1) * shards || NaN);
  const single = openInOwnProcess(await filled(databases, 1, async () => undefined));
  const perDatabase = (single.residentMiB - empty.residentMiB) / databases - perShard;
  print('an idle shard, KiB', perShard * 1024);
  print('an idle database beside its shards, KiB', perDatabase * 1024);
}

/** A closed directory with so many shards; `work` runs while it is open. */
async function filled(
  databaseCount: number,
  shardsOfEach: number,
  work: (engine: StorageEngine) => Promise<void>,
): Promise<Bench> {
  const bench = new Bench();
  const engine = await bench.open();
  for (let database = 0; database < databaseCount; database++) {
    for (let shard = 0; shard < shardsOfEach; shard++) {
      await writeRows(engine, { database, shard, rows: ROWS });
    }
    if (database % DATABASES_PER_FLUSH === 0) await engine.flush();
  }
  await engine.flush();
  await work(engine);
  await engine.close();
  return bench;
}

async function measureCommits(engine: StorageEngine): Promise<void> {
  const before = cpuMs();
  for (let i = 0; i < COMMITS; i++) {
    await writeRows(engine, { database: i % databases, shard: i % shards, rows: 1 });
    await engine.flush();
  }
  print('write, flush and commit, CPU ms', (cpuMs() - before) / COMMITS);
}

async function writeRows(
  engine: StorageEngine,
  to: { readonly database: number; readonly shard: number; readonly rows: number },
): Promise<void> {
  const { database, shard, rows } = to;
  const lines: string[] = [];
  for (let series = 0; series < SERIES; series++) {
    for (let row = 0; row < rows; row++) {
      const time = START_NANOS - BigInt(shard) * NANOS_PER_WEEK + BigInt(row);
      lines.push(`m,host=h${series} v=${row / 4} ${time}`);
    }
  }
  const body = new TextEncoder().encode(lines.join('\n'));
  const policy = { ...POLICY, id: database + 1, database: `db${database}` };
  await engine.writeLines({ policy, body, precision: 'ns', now: 0n });
}

function openInOwnProcess(bench: Bench): Opened {
  const args = ['--expose-gc', '--conditions=source', fileURLToPath(import.meta.url)];
  const output = execFileSync(process.execPath, [
    ...args,
    String(databases),
    String(shards),
    bench.directory,
  ]);
  void bench.close();
  return JSON.parse(output.toString()) as Opened;
}

async function measureOpening(directory: string): Promise<Opened> {
  const before = cpuMs();
  const began = performance.now();
  const engine = await openStorageInline({ directory, hasBackgroundWork: false });
  await countOf(engine, 'db0');
  const ms = performance.now() - began;
  const usedMs = cpuMs() - before;
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 100));
  globalThis.gc?.();
  const residentMiB = process.memoryUsage().rss / 2 ** 20;
  await engine.close();
  return { ms, cpuMs: usedMs, residentMiB };
}

async function countOf(engine: StorageEngine, database: string): Promise<void> {
  const snapshot = engine.source.snapshot();
  const request = {
    sources: [{ database, retentionPolicy: POLICY.retentionPolicy, measurement: 'm' }],
    timeRange: { start: -(2n ** 62n), end: 2n ** 62n },
    descending: false,
    groupBy: [],
    aggregates: [{ field: 'v', type: 'float' as const, functions: ['count' as const] }],
  };
  try {
    const batches = snapshot.aggregate(request, { signal: new AbortController().signal });
    for await (const _ of eachBatch(batches));
  } finally {
    snapshot.close();
  }
}

function print(what: string, value: number): void {
  console.log(`${what.padEnd(42)}${value.toFixed(2).padStart(10)}`);
}
