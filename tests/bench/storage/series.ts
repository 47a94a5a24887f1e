// Many series: writing, flushing, opening after a clean stop and without one, and what the memory
// comes to. packages/cli/bin/node --conditions=source tests/bench/storage/series.ts [series]
import { mkdtempSync, rmSync, statSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';
import type { StorageEngine } from '@tidemark/storage-api';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';

const SERIES = Number(process.argv[2] ?? 1_000_000);
const LINES = 10_000;
const FLUSH_SERIES = 1_000_000;
const START = 1_600_000_000_000_000_000n;
const utf8 = new TextEncoder();

function body(first: number, round: number): Uint8Array {
  const lines: string[] = [];
  const time = START + BigInt(round) * 10_000_000_000n;
  for (let i = first; i < Math.min(SERIES, first + LINES); i++) {
    const pod = (Math.imul(i, 2654435761) >>> 0).toString(16);
    lines.push(
      `hc,id=${i},dc=dc${i % 7},svc=svc-${i % 211},pod=p${pod} value=${(i % 1000) / 8} ${time}\n`,
    );
  }
  return utf8.encode(lines.join(''));
}

async function writeAll(engine: StorageEngine, round: number): Promise<void> {
  for (let first = 0; first < SERIES; first += LINES) {
    const request = {
      policy: POLICY,
      body: body(first, round),
      precision: 'ns',
      now: START,
    } as const;
    const { pointsWritten } = await engine.writeLines(request);
    if (pointsWritten !== Math.min(LINES, SERIES - first)) throw new Error('every line is a point');
    // Background work is off so that each step is measured by itself: the memtable must not fill
    // up.
    if ((first + LINES) % FLUSH_SERIES === 0) await engine.flush();
  }
}

async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const cpu = cpuMs();
  const result = await work();
  const wall = performance.now() - began;
  const rss = process.memoryUsage.rss() / 2 ** 20;
  console.log(
    `${what.padEnd(44)} ${wall.toFixed(0).padStart(7)} ms, CPU ${(cpuMs() - cpu).toFixed(0).padStart(6)} ms, RSS ${rss.toFixed(0)} MiB`,
  );
  return result;
}

const directory = mkdtempSync(join(tmpdir(), 'bench-series-'));
const open = (): Promise<StorageEngine> =>
  openStorageInline({ directory, hasBackgroundWork: false });
let engine = await open();
await measured(`${SERIES} new series`, () => writeAll(engine, 0));
await measured('flush', () => engine.flush());
await measured('once more, known series', () => writeAll(engine, 1));
await measured('flush', () => engine.flush());
await measured('compact', () => engine.compact());
await measured('close', () => engine.close());
for (const file of readdirSync(join(directory, 'index'))) {
  console.log(
    `  index/${file}: ${(statSync(join(directory, 'index', file)).size / 2 ** 20).toFixed(1)} MiB`,
  );
}
engine = await measured('open', open);
const { databases } = await engine.statistics();
console.log(`  series: ${databases[0]?.seriesCount}`);
await engine.close();
rmSync(directory, { recursive: true });
