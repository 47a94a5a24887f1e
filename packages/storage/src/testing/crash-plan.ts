// The operations of crash tests on a simulated disk, and the expected contents afterwards.
import { expect } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { openStorageInline } from '../engine/open-inline.ts';
import type { StorageEnvironment } from '../engine/environment.ts';
import { scanRows, write } from './fixtures.ts';
import type { SimulatedDisk } from './simulated-disk.ts';

const OPTIONS = { directory: '/data', hasBackgroundWork: false, deletedSeriesMin: 1 };

export function open(
  disk: SimulatedDisk,
  fault?: StorageEnvironment['fault'],
): Promise<StorageEngine> {
  return openStorageInline(OPTIONS, { disk, fault });
}

/**
 * The values that each key may have: the last acknowledged one and those of later writes in
 * progress.
 */
export type Expectation = Map<string, { allowed: Set<number | undefined> }>;

export type Step = (engine: StorageEngine, expected: Expectation) => Promise<void>;

export function writeStep(keys: readonly string[], value: number): Step {
  return async (engine, expected) => {
    const lines = keys.map((key) => {
      const [series, time] = key.split(' ');
      return `m,t=${series} f=${value} ${time}\n`;
    });
    for (const key of keys) {
      const known = expected.get(key) ?? { allowed: new Set([undefined]) };
      known.allowed.add(value);
      expected.set(key, known);
    }
    await write(engine, lines.join(''));
    for (const key of keys) expected.set(key, { allowed: new Set([value]) });
  };
}

function deleteStep(series: string): Step {
  return async (engine, expected) => {
    const keys = [...expected.keys()].filter((key) => key.startsWith(`${series} `));
    for (const key of keys) expected.get(key)?.allowed.add(undefined);
    await engine.delete({
      database: 'db',
      where: { kind: 'tag', key: 't', operator: '=', value: series },
    });
    for (const key of keys) expected.set(key, { allowed: new Set([undefined]) });
  };
}

const flush: Step = (engine) => engine.flush();
const compact: Step = (engine) => engine.compact();
export const WEEK = 604_800_000_000_000;

const PLAN: readonly Step[] = [
  writeStep(['a 1', 'b 1', `a ${WEEK}`], 1),
  writeStep(['a 2', 'c 2'], 2),
  flush,
  writeStep(['a 1', 'b 3'], 3),
  deleteStep('b'),
  flush,
  writeStep(['b 1', 'd 4'], 4),
  compact,
  deleteStep('a'),
  writeStep(['a 9'], 5),
  flush,
  compact,
  writeStep(['e 1'], 6),
];

/** Runs everything: writes, deletes, flushes, compactions; `more` comes last. */
export async function run(
  disk: SimulatedDisk,
  expected: Expectation,
  options: { readonly fault?: StorageEnvironment['fault']; readonly more?: Step } = {},
): Promise<void> {
  const engine = await open(disk, options.fault);
  for (const step of PLAN) await step(engine, expected);
  await options.more?.(engine, expected);
  await engine.close();
}

/**
 * Opens the disk after a crash: everything acknowledged is there, nothing is invented, and the
 * engine keeps working.
 */
export async function check(
  disk: SimulatedDisk,
  expected: Expectation,
  what: string,
): Promise<void> {
  const engine = await open(disk);
  const rows = await scanRows(engine, 'm', [['f', 'float']]);
  const found = new Map(rows.map(([key, time, value]) => [`${key.slice(4)} ${time}`, value]));
  for (const [key, { allowed }] of expected) {
    expect([...allowed], `${what}: ${key}`).toContain(found.get(key));
    found.delete(key);
  }
  expect([...found], `${what}: invented`).toEqual([]);
  // The engine keeps working: rows written now are there after the next start.
  await write(engine, 'm,t=z f=7 1\n');
  await engine.flush();
  await engine.close();
  const again = await open(disk);
  expect(await scanRows(again, 'm', [['f', 'float']])).toContainEqual(['m,t=z', 1n, 7]);
  await again.close();
}
