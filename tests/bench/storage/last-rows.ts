// The last row of each series, asked again and again: `SELECT * … GROUP BY host ORDER BY time DESC
// LIMIT 1`. packages/cli/bin/node --conditions=source tests/bench/storage/last-rows.ts [series]
// [rows per series]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eachBatch } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';
import { openStorageInline } from '@tidemark/storage';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';

const SERIES = Number(process.argv[2] ?? 100);
const ROWS = Number(process.argv[3] ?? 8640);
const ROUNDS = 200;
const START = 1_600_041_600_000_000_000n;

const directory = mkdtempSync(join(tmpdir(), 'bench-last-rows-'));
const engine = await openStorageInline({ directory, hasBackgroundWork: false });
for (let row = 0; row < ROWS; row += 100) {
  const lines: string[] = [];
  for (let i = row; i < Math.min(ROWS, row + 100); i++) {
    for (let series = 0; series < SERIES; series++) {
      const fields = Array.from({ length: 10 }, (_, f) => `f${f}=${(i * 7 + f + series) % 100}i`);
      const time = START + BigInt(i) * 10_000_000_000n;
      lines.push(`cpu,host=h${series},dc=dc${series % 7} ${fields.join(',')} ${time}`);
    }
  }
  const body = new TextEncoder().encode(lines.join('\n'));
  await engine.writeLines({ policy: POLICY, body, precision: 'ns', now: START });
}
await engine.flush();
await engine.compact();

const request: ScanRequest = {
  source: { database: 'db', retentionPolicy: 'autogen', measurement: 'cpu' },
  timeRange: { start: -(2n ** 62n), end: 2n ** 62n },
  descending: true,
  groupBy: ['host'],
  fields: Array.from({ length: 10 }, (_, f) => ({ name: `f${f}`, type: 'integer' })),
  limitPerSeries: 1,
};

async function round(): Promise<void> {
  const snapshot = engine.source.snapshot();
  let batches = 0;
  for await (const _ of eachBatch(snapshot.scan(request, { signal: new AbortController().signal })))
    batches++;
  snapshot.close();
  if (batches !== SERIES) throw new Error('a row per series');
}

for (let i = 0; i < 20; i++) await round();
const cpu = cpuMs();
for (let i = 0; i < ROUNDS; i++) await round();
const perRound = (cpuMs() - cpu) / ROUNDS;
console.log(`last rows of ${SERIES} series of ${ROWS} rows: ${perRound.toFixed(2)} ms CPU`);
await engine.close();
rmSync(directory, { recursive: true });
