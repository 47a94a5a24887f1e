// A range whose end is before its start: a condition may contain one, and so do two comparisons
// joined by AND. It has no rows, wherever the rows between the two are stored.
import { afterAll, beforeAll, expect, test } from 'vitest';

import { aggregateRows, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const EMPTY = { start: 700n, end: 300n };
const FIELDS = [['f', 'float']] as const;

let subject: TestEngine;

beforeAll(async () => {
  subject = await testEngine();
  const lines = Array.from({ length: 1000 }, (_, i) => `m,host=h${i % 2} f=${i} ${i}`);
  await write(subject.engine, lines.join('\n'));
});

afterAll(() => subject.dispose());

async function allRows(): Promise<number> {
  return (await scanRows(subject.engine, 'm', FIELDS)).length;
}

test.each(['rows in memory', 'rows of segments'])('%s lie outside of it', async (where) => {
  if (where === 'rows of segments') await subject.engine.flush();

  const { engine } = subject;
  const aggregates = [{ field: 'f', type: 'float', functions: ['count', 'max'] }] as const;

  expect(await scanRows(engine, 'm', FIELDS, { timeRange: EMPTY })).toEqual([]);
  expect(await scanRows(engine, 'm', FIELDS, { timeRange: EMPTY, descending: true })).toEqual([]);
  expect(await aggregateRows(engine, 'm', aggregates, { timeRange: EMPTY })).toEqual([]);
  const window = { everyNanos: 100n, offsetNanos: 0n };
  expect(await aggregateRows(engine, 'm', aggregates, { timeRange: EMPTY, window })).toEqual([]);
});

test('a delete of it logs nothing', async () => {
  const before = await subject.engine.statistics();

  await subject.engine.delete({ database: 'db', measurements: ['m'], timeRange: EMPTY });

  expect(await subject.engine.statistics()).toEqual(before);
  expect(await allRows()).toBe(1000);
});
