// How long a small write takes by itself, and while eight segments are compacted beside it. One
// write after the other, synced; arguments: steps.ts.
import type { StorageEngine } from '@tidemark/storage-api';

import { POLICY } from './policy.ts';
import { Bench, load } from './steps.ts';

const ROWS = 100;
const WRITES_ALONE = 300;

const bench = new Bench();
const engine = await bench.open();
await load(engine, 8);

let count = 0;
report('writes alone', await writeWhile(engine, () => count < WRITES_ALONE));
let isCompacting = true;
const compaction = engine.compact().finally(() => {
  isCompacting = false;
});
report('writes beside a compaction', await writeWhile(engine, () => isCompacting));
await compaction;
await bench.close();

/** Milliseconds of each write. */
async function writeWhile(to: StorageEngine, goesOn: () => boolean): Promise<number[]> {
  const waits: number[] = [];
  while (goesOn()) {
    const first = count++ * ROWS;
    const lines = Array.from({ length: ROWS }, (_, i) => `w,host=h${i} v=${i} ${first + i}`);
    const body = new TextEncoder().encode(lines.join('\n'));
    const began = performance.now();
    await to.writeLines({ policy: POLICY, body, precision: 'ns', now: 0n });
    waits.push(performance.now() - began);
  }
  return waits;
}

function report(what: string, waits: number[]): void {
  waits.sort((a, b) => a - b);
  const at = (share: number): string =>
    (waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? 0).toFixed(1);
  console.log(
    `${what.padEnd(28)} ${waits.length} writes, ms: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`,
  );
}
