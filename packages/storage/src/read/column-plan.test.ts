// What is read of a column, by its directory entry and what windows want of it.
import type { FieldType } from '@tidemark/core';
import { CACHED_ROWS_MAX } from '@tidemark/kernels';
import { expect, test } from 'vitest';

import type { ChunkMeta, ColumnMeta } from '../segment/format.ts';
import { planColumn, windowOfChunk } from './column-plan.ts';
import type { ColumnUse } from './column-plan.ts';

type Case = {
  readonly name: string;
  /** `undefined` when the chunk lacks the field. */
  readonly stored: FieldType | undefined;
  readonly wanted: FieldType;
  readonly rows?: number;
  /** How many rows have a value; all by default. */
  readonly count?: number;
  readonly countsOnly?: boolean;
  readonly isTold?: boolean;
  readonly isInOneWindow?: boolean;
  readonly use: ColumnUse;
};

const whole = { isTold: true, isInOneWindow: true };

test.each<Case>([
  { name: 'a missing field', stored: undefined, wanted: 'float', ...whole, use: 'none' },
  { name: 'texts for numbers', stored: 'string', wanted: 'float', ...whole, use: 'none' },
  { name: 'an entry that suffices', stored: 'float', wanted: 'float', ...whole, use: 'entry' },
  {
    name: 'rows of several windows',
    stored: 'float',
    wanted: 'float',
    isTold: true,
    use: 'cached',
  },
  {
    name: 'an entry that does not suffice',
    stored: 'float',
    wanted: 'float',
    isInOneWindow: true,
    use: 'cached',
  },
  { name: 'another type of number', stored: 'integer', wanted: 'float', use: 'values' },
  {
    name: 'another type of number, counted',
    stored: 'integer',
    wanted: 'float',
    countsOnly: true,
    use: 'cached',
  },
  { name: 'texts', stored: 'string', wanted: 'string', use: 'values' },
  { name: 'texts, counted', stored: 'string', wanted: 'string', countsOnly: true, use: 'cached' },
  {
    name: 'a chunk too long for the cache',
    stored: 'float',
    wanted: 'float',
    rows: CACHED_ROWS_MAX + 1,
    use: 'values',
  },
  { name: 'few values', stored: 'float', wanted: 'float', rows: 100, count: 50, use: 'few' },
  { name: 'most values', stored: 'float', wanted: 'float', rows: 100, count: 51, use: 'values' },
  { name: 'few texts', stored: 'string', wanted: 'string', rows: 100, count: 3, use: 'values' },
])('$name: $use', (one) => {
  const { stored, wanted: type, rows = 10, count = rows, isTold = false, use } = one;
  const { countsOnly = false, isInOneWindow = false } = one;
  const column = { field: 0, count, validBytes: rows - count } as ColumnMeta;
  const chunk = {
    columns: [stored && column],
    meta: { rows } as ChunkMeta,
    type: () => stored,
  };

  expect(planColumn(chunk, 0, { type, countsOnly, isInOneWindow, isToldBy: () => isTold })).toBe(
    use,
  );
});

test.each([
  { name: 'within a window', from: 65n, to: 119n, window: 60n, start: 60n },
  { name: 'up to its last instant', from: 60n, to: 119n, window: 60n, start: 60n },
  { name: 'beyond it', from: 60n, to: 120n, window: 60n, start: undefined },
  { name: 'before 1970', from: -5n, to: -1n, window: 60n, start: -60n },
  { name: 'without windows', from: 65n, to: 500n, window: undefined, start: -1000n },
])('the window of a chunk: $name', ({ from, to, window, start }) => {
  const meta = { minTime: from, maxTime: to } as ChunkMeta;
  const request = {
    aggregates: [],
    timeRange: { start: -1000n, end: 1000n },
    window: window === undefined ? undefined : { everyNanos: window, offsetNanos: 0n },
    descending: false,
    groupBy: [],
  };

  expect(windowOfChunk({ isWhole: true, meta }, request)).toBe(start);
  expect(windowOfChunk({ isWhole: false, meta }, request)).toBeUndefined();
});
