// A series index made again without its deleted series (docs/adr/0010-rebuilt-index.md): what it
// costs, what it gives back, and how long writes that go on meanwhile wait for it.
// packages/cli/bin/node --conditions=source tests/bench/storage/renewal.ts [series]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';

import { cpuMs } from '../kernels/measure.ts';
import { POLICY } from './policy.ts';

const SERIES = Number(process.argv[2] ?? 1_000_000);
const LINES = 10_000;
const START = 1_600_000_000_000_000_000n;
const utf8 = new TextEncoder();

const directory = mkdtempSync(join(tmpdir(), 'bench-renewal-'));
// Compaction first, with an engine that never renews, so that the renewal is measured by itself.
let engine = await openStorageInline({
  directory,
  hasBackgroundWork: false,
  deletedSeriesMin: Number.POSITIVE_INFINITY,
});

async function write(text: string): Promise<void> {
  const body = utf8.encode(text);
  await engine.writeLines({ policy: POLICY, body, precision: 'ns', now: START });
}

/** Every other series is of a kind that is deleted afterwards. */
async function fill(): Promise<void> {
  for (let first = 0; first < SERIES; first += LINES) {
    const lines: string[] = [];
    for (let i = first; i < Math.min(SERIES, first + LINES); i++) {
      const pod = (Math.imul(i, 2654435761) >>> 0).toString(16);
      lines.push(
        `hc,id=${i},dc=dc${i % 7},kind=k${i % 2},pod=p${pod} value=${(i % 1000) / 8} ${START}`,
      );
    }
    await write(lines.join('\n'));
  }
  await engine.flush();
}

async function indexMiB(): Promise<number> {
  const { counters } = await engine.statistics();
  return (counters['indexBytes'] ?? 0) / 2 ** 20;
}

/** How long writes of one point take while `work` goes on. */
async function withWrites(work: Promise<void>): Promise<number[]> {
  const waitsMs: number[] = [];
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  for (let i = 1; !isDone; i++) {
    const began = performance.now();
    await write(`other,host=a value=1 ${START + BigInt(i)}`);
    waitsMs.push(performance.now() - began);
  }
  await done;
  return waitsMs.sort((a, b) => a - b);
}

async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const cpu = cpuMs();
  const result = await work();
  const wall = performance.now() - began;
  console.log(
    `${what.padEnd(44)} ${wall.toFixed(0).padStart(7)} ms, CPU ${(cpuMs() - cpu).toFixed(0).padStart(6)} ms, ` +
      `index ${(await indexMiB()).toFixed(1)} MiB`,
  );
  return result;
}

await measured(`${SERIES} series`, fill);
await measured('half of them deleted', () =>
  engine.delete({
    database: POLICY.database,
    where: { kind: 'tag', key: 'kind', operator: '=', value: 'k1' },
  }),
);
await measured('their rows compacted away', () => engine.compact());
await measured('open', async () => {
  await engine.close();
  engine = await openStorageInline({ directory, hasBackgroundWork: false });
});
const waits = await measured('index renewed', () => withWrites(engine.compact()));
const at = (share: number): string =>
  (waits[Math.floor((waits.length - 1) * share)] ?? 0).toFixed(1);
console.log(
  `  ${waits.length} writes meanwhile, ms: median ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
);
await engine.close();
rmSync(directory, { recursive: true });
