// Flush, compaction and opening, each by itself: what it takes per row and per byte of its
// segments. packages/cli/bin/node --conditions=source
// tests/bench/storage/{flush,compaction,open}.ts [hosts] [hours]
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';
import type { StorageEngine } from '@tidemark/storage-api';

import { cpuMs } from '../kernels/measure.ts';
import { cpuBodies } from './bodies.ts';
import { POLICY } from './policy.ts';

/** An engine that does nothing in the background, so that each step can be measured by itself. */
export class Bench {
  readonly directory = mkdtempSync(join(tmpdir(), 'bench-step-'));
  engine: StorageEngine | undefined;

  async open(): Promise<StorageEngine> {
    this.engine = await openStorageInline({ directory: this.directory, hasBackgroundWork: false });
    return this.engine;
  }

  /** A bench with these files as they are now: what a process that is killed leaves behind. */
  copy(): Bench {
    const bench = new Bench();
    cpSync(this.directory, bench.directory, { recursive: true });
    return bench;
  }

  async close(): Promise<void> {
    await this.engine?.close();
    rmSync(this.directory, { recursive: true });
  }
}

/**
 * The rows of the arguments, in as many flushes as said; 0 leaves them in the log. Returns their
 * number.
 */
export async function load(engine: StorageEngine, flushes: number): Promise<number> {
  const [hosts = 100, hours = 8] = process.argv.slice(2).map(Number);
  const bodies = [...cpuBodies({ hosts, hours })];
  const perFlush = Math.ceil(bodies.length / Math.max(1, flushes));
  let rows = 0;
  for (const [i, body] of bodies.entries()) {
    rows += (await engine.writeLines({ policy: POLICY, body, precision: 'ns', now: 0n }))
      .pointsWritten;
    if (flushes > 0 && (i + 1) % perFlush === 0) await engine.flush();
  }
  if (flushes > 0) await engine.flush();
  return rows;
}

export async function segmentBytes(engine: StorageEngine): Promise<number> {
  return (await engine.statistics()).counters['segmentBytes'] ?? 0;
}

/** Does the step and prints its figures; `bytes` is asked for afterwards. */
export async function measure<T>(
  what: string,
  rows: number,
  step: { readonly work: () => Promise<T>; readonly bytes: (result: T) => Promise<number> },
): Promise<T> {
  const began = performance.now();
  const cpu = cpuMs();
  const result = await step.work();
  const wallMs = performance.now() - began;
  const usedMs = cpuMs() - cpu;
  const bytes = await step.bytes(result);
  console.log(
    `${what.padEnd(34)} ${(rows / wallMs / 1000).toFixed(2).padStart(7)} M rows/s, ${(bytes / wallMs / 1000).toFixed(2).padStart(7)} MB/s, ` +
      `${wallMs.toFixed(0).padStart(6)} ms, CPU ${usedMs.toFixed(0).padStart(6)} ms, ${(rows / usedMs / 1000).toFixed(2)} M rows per CPU second`,
  );
  return result;
}
