// The worked scenarios: every file of scenarios/ holds, and every number is there.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@tidemark/core';
import { expect, test } from 'vitest';
import { runTaskTests } from './run.ts';
import type { TaskTestOptions } from './run.ts';

const folder = fileURLToPath(new URL('../../scenarios/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.task-test'));

const OPTIONS: TaskTestOptions = {
  clock: systemClock(),
  readScript: (path) => readFileSync(folder + path, 'utf8'),
};
const SCENARIO_COUNT = 64;

test.each(files)('%s', async (name) => {
  const results = await runTaskTests(readFileSync(folder + name, 'utf8'), OPTIONS);

  for (const { failures, checkCount, name: test } of results) {
    expect(failures, test).toEqual([]);
    expect(checkCount, test).toBeGreaterThan(0);
  }
});

test('no scenario is missing', () => {
  const numbers = files.map((name) => Number(name.slice(0, 2))).sort((a, b) => a - b);

  expect(numbers).toEqual(Array.from({ length: SCENARIO_COUNT }, (_, i) => i + 1));
});
