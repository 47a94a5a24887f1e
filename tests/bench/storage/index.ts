// Conditions on tags over many series: from postings, and without room for any.
// packages/cli/bin/node --conditions=source tests/bench/storage/index.ts [series]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Predicate, SchemaRequest } from '@tidemark/query';
import { openStorageInline } from '@tidemark/storage';
import type { StorageEngine } from '@tidemark/storage-api';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';

const SERIES = Number(process.argv[2] ?? 1_000_000);
const LINES = 10_000;
const FLUSH_LINES = 1_000_000;
const START = 1_600_000_000_000_000_000n;

const directory = mkdtempSync(join(tmpdir(), 'bench-index-'));

function open(indexCacheBytes: number): Promise<StorageEngine> {
  return openStorageInline({ directory, hasBackgroundWork: false, indexCacheBytes });
}

async function load(engine: StorageEngine): Promise<void> {
  for (let first = 0; first < SERIES; first += LINES) {
    const lines: string[] = [];
    for (let i = first; i < Math.min(SERIES, first + LINES); i++) {
      lines.push(`hc,id=${i},dc=dc${i % 7},svc=svc-${i % 211} value=1 ${START}`);
    }
    const body = new TextEncoder().encode(lines.join('\n'));
    await engine.writeLines({ policy: POLICY, body, precision: 'ns', now: START });
    if ((first + LINES) % FLUSH_LINES === 0) await engine.flush();
  }
  await engine.flush();
}

const tag = (key: string, value: string, operator: '=' | '!=' = '='): Predicate => ({
  kind: 'tag',
  key,
  operator,
  value,
});
const CONDITIONS: readonly (readonly [string, Predicate])[] = [
  ["id = '5'", tag('id', '5')],
  ["dc = 'dc1'", tag('dc', 'dc1')],
  ["dc = 'dc5' AND id = '5'", { kind: 'and', left: tag('dc', 'dc5'), right: tag('id', '5') }],
  [
    "dc = 'dc1' AND svc = 'svc-8'",
    { kind: 'and', left: tag('dc', 'dc1'), right: tag('svc', 'svc-8') },
  ],
  ['svc =~ /-1.$/', { kind: 'tag-regex', key: 'svc', operator: '=~', pattern: '-1.$' }],
];

async function ask(engine: StorageEngine, request: SchemaRequest): Promise<void> {
  const snapshot = await engine.source.snapshot();
  const batches = snapshot.schema(request, { signal: new AbortController().signal });
  for await (const _ of batches) void _;
  await snapshot.close();
}

async function measure(engine: StorageEngine, what: string, request: SchemaRequest): Promise<void> {
  const began = cpuMs();
  await ask(engine, request);
  const first = cpuMs() - began;
  const rounds = 10;
  const again = cpuMs();
  for (let i = 0; i < rounds; i++) await ask(engine, request);
  const each = (cpuMs() - again) / rounds;
  console.log(`  ${what.padEnd(32)} first ${first.toFixed(1)} ms CPU, then ${each.toFixed(2)} ms`);
}

for (const [name, budget] of [
  ['postings in 32 MiB', 32 << 20],
  ['no postings', 0],
] as const) {
  const engine = await open(budget);
  if (budget > 0) await load(engine);
  console.log(`${SERIES} series, ${name}`);
  const filter = { database: 'db' };
  for (const [text, where] of CONDITIONS) {
    const request = { kind: 'cardinality', of: 'series', filter: { ...filter, where } } as const;
    await measure(engine, text, request);
  }
  const keys = { kind: 'in', keys: ['svc'] } as const;
  await measure(engine, 'SHOW TAG VALUES of svc', { kind: 'tag-values', filter, keys });
  await measure(engine, 'number of values of all keys', {
    kind: 'tag-cardinality',
    filter,
    keys: { kind: 'not', key: '' },
  });
  const { counters } = await engine.statistics();
  console.log(`  postings: ${((counters['postingsBytes'] ?? 0) / 2 ** 20).toFixed(1)} MiB`);
  await engine.close();
}
rmSync(directory, { recursive: true });
