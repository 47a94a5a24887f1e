// Rows that have few of very many fields: whatever the way to them is, they read as they were
// written, though no reader or writer may hold all columns of all rows at once.
import { columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import type { ScanRequest } from '@tidemark/query';
import { afterEach, expect, test } from 'vitest';

import { aggregateRows, EVERYTHING, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const FIELDS = 3000;
const FIELDS_PER_ROW = 12;
/** So many that half of the rows times fields are more than is read at once. */
const ROWS = 1600;
const STRIDE = 251;

type Cells = Map<bigint, Map<string, FieldValue>>;

const fields = Array.from({ length: FIELDS }, (_, i) => ({
  name: `f${i}`,
  type: i % 7 === 0 ? ('string' as const) : ('float' as const),
}));

let storage: TestEngine;
afterEach(() => storage.dispose());

/** Writes the rows of these times, and notes their values. */
async function writeRows(cells: Cells, times: readonly number[], salt: number): Promise<void> {
  const lines = times.map((time) => {
    const row = cells.get(BigInt(time)) ?? new Map<string, FieldValue>();
    cells.set(BigInt(time), row);
    const values = Array.from({ length: FIELDS_PER_ROW }, (_, i) => {
      const { name, type } = fields[(time * 17 + salt + i * STRIDE) % FIELDS]!;
      const value = type === 'string' ? `t${(time + i) % 50}` : (time * 3 + i + salt) / 2;
      row.set(name, value);
      return `${name}=${typeof value === 'string' ? `"${value}"` : value}`;
    });
    return `m,host=a ${values.join(',')} ${time}`;
  });
  await write(storage.engine, lines.join('\n'));
}

async function readCells(request: Partial<ScanRequest> = {}): Promise<Cells> {
  const cells: Cells = new Map();
  const snapshot = storage.engine.source.snapshot();
  const { signal } = new AbortController();
  const source = { database: 'db', retentionPolicy: 'autogen', measurement: 'm' };
  const all = { source, timeRange: EVERYTHING, descending: false, groupBy: 'all', fields } as const;
  const batches = snapshot.scan({ ...all, ...request }, { signal });
  for await (const { times, columns } of eachBatch(batches)) {
    const rows = Array.from(times, () => new Map<string, FieldValue>());
    columns.forEach((column, at) => {
      const { name } = fields[at]!;
      for (let i = 0; i < rows.length; i++) {
        if (column.valid?.[i] !== 0) rows[i]!.set(name, columnValue(column, i)!);
      }
    });
    times.forEach((time, i) => {
      expect(cells.has(time)).toBe(false);
      cells.set(time, rows[i]!);
    });
  }
  snapshot.close();
  return cells;
}

/** Rows in their order, each as text: comparing texts is faster than comparing maps. */
function printed(cells: Iterable<readonly [bigint, ReadonlyMap<string, FieldValue>]>): string[] {
  return Array.from(cells, ([time, row]) => {
    const values = Array.from(row, ([name, value]) => `${name}=${String(value)}`);
    return `${time} ${values.toSorted().join(' ')}`;
  });
}

async function expectCells(cells: Cells): Promise<void> {
  const expected = [...cells].toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect(printed(await readCells())).toEqual(printed(expected));
  const first = printed(expected.slice(0, 3));
  const last = printed(expected.slice(-3).toReversed());
  expect(printed(await readCells({ limitPerSeries: 3 }))).toEqual(first);
  expect(printed(await readCells({ limitPerSeries: 3, descending: true }))).toEqual(last);
  const totals = new Map(fields.map(({ name }) => [name, { count: 0n, sum: 0, last: 0, at: 0n }]));
  for (const [time, row] of expected) {
    for (const [name, value] of row) {
      const total = totals.get(name)!;
      total.count++;
      total.sum += Number(value);
      total.last = Number(value);
      total.at = time;
    }
  }
  const numbers = fields.filter(({ type }) => type === 'float');
  const [answered] = await aggregateRows(
    storage.engine,
    'm',
    numbers.map(({ name, type }) => ({ field: name, type, functions: ['count', 'sum', 'last'] })),
  );
  const values = numbers.flatMap(({ name }) => {
    const { count, sum, last: value, at } = totals.get(name)!;
    return [[count], [sum], [value, at]];
  });
  expect(answered?.values).toEqual(values);
  const [counts] = await aggregateRows(
    storage.engine,
    'm',
    fields.map(({ name, type }) => ({ field: name, type, functions: ['count'] })),
  );
  expect(counts?.values).toEqual(fields.map(({ name }) => [totals.get(name)!.count]));
}

test('rows of few fields each are the same in memory and in files, which overlap, and merged', async () => {
  storage = await testEngine();
  const cells: Cells = new Map();
  const all = Array.from({ length: ROWS }, (_, i) => i + 1);
  await writeRows(
    cells,
    all.filter((time) => time % 2 === 0),
    0,
  );
  await storage.engine.flush();
  // They lie between the rows of the file, and some of them replace values there.
  await writeRows(cells, all.filter((time) => time % 2 === 1 || time % 10 === 0).toReversed(), 5);
  await expectCells(cells);
  await storage.engine.flush();
  await storage.engine.delete({
    database: 'db',
    measurements: ['m'],
    timeRange: { start: 500n, end: 700n },
  });
  for (const time of all) if (time >= 500 && time <= 700) cells.delete(BigInt(time));
  await expectCells(cells);
  await storage.engine.compact();
  await expectCells(cells);
}, 120_000);
