// Series with few rows are encoded in the kernel, many in one call. What comes out has to be what
// `addRun` writes.
import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Column, FieldType } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { nodeDisk } from '../disk/node-disk.ts';
import { columnOf, isStrictlyAscending, mergeRuns, sliceRun } from '../columns/run.ts';
import { SegmentWriter } from './writer.ts';

type Rows = {
  readonly ids: Uint32Array;
  readonly ends: Uint32Array;
  readonly times: BigInt64Array;
  readonly columns: readonly (Column | undefined)[];
};

const TYPES: readonly FieldType[] = ['float', 'integer', 'unsigned', 'boolean', 'string'];

const value = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 0n, max: 100n }),
);

function columnFor(
  type: FieldType,
  values: readonly bigint[],
  valid: Uint8Array | undefined,
): Column {
  switch (type) {
    case 'float':
      return { type, values: Float64Array.from(values, (v) => Number(v) / 8), valid };
    case 'integer':
      return { type, values: BigInt64Array.from(values), valid };
    case 'unsigned':
      return { type, values: BigUint64Array.from(values, (v) => BigInt.asUintN(64, v)), valid };
    case 'boolean':
      return { type, values: Uint8Array.from(values, (v) => Number(v & 1n)), valid };
    case 'string': {
      const codes = Uint32Array.from(values, (v) => Number(v & 1n));
      return columnOf(type, { values: codes, valid, dictionary: ['a', 'b'] });
    }
  }
}

/**
 * Series of up to 40 rows, of which some do not ascend; fields of some types, with and without
 * nulls.
 */
const rowsOf = (types: readonly FieldType[]): fc.Arbitrary<Rows> =>
  fc
    .record({
      lengths: fc.array(
        fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 40 })),
        {
          minLength: 1,
          maxLength: 60,
        },
      ),
      steps: fc.infiniteStream(
        fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 1e9 }) }, fc.constant(-5)),
      ),
      gaps: fc.infiniteStream(fc.integer({ min: 1, max: 3000 })),
      values: fc.infiniteStream(value),
      nulls: fc.infiniteStream(fc.nat(3)),
      withNulls: fc.array(fc.constantFrom('none', 'some', 'all absent'), {
        minLength: types.length,
        maxLength: types.length,
      }),
    })
    .map(({ lengths, steps, gaps, values, nulls, withNulls }) => {
      const count = lengths.reduce((sum, length) => sum + length, 0);
      let time = 1_600_000_000_000_000_000n;
      let id = 0;
      let end = 0;
      return {
        ids: Uint32Array.from(lengths, () => (id += gaps.next().value)),
        ends: Uint32Array.from(lengths, (length) => (end += length)),
        times: BigInt64Array.from({ length: count }, () => (time += BigInt(steps.next().value))),
        columns: types.map((type, i) => {
          if (withNulls[i] === 'all absent') return undefined;
          const all = Array.from({ length: count }, () => values.next().value);
          const valid =
            withNulls[i] === 'none'
              ? undefined
              : Uint8Array.from({ length: count }, () => Math.min(1, nulls.next().value));
          return columnFor(type, all, valid);
        }),
      };
    });

async function written(
  types: readonly FieldType[],
  portions: readonly Rows[],
  isTogether: boolean,
): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'short-series-'));
  try {
    const path = join(directory, 'segment');
    const writer = new SegmentWriter(nodeDisk(), path, 1);
    writer.beginMeasurement(
      0,
      types.map((type, i) => ({ name: `f${i}`, type })),
    );
    for (const { ids, ends, times, columns } of portions) {
      const addOther = (i: number): void => {
        const run = sliceRun({ times, columns }, i === 0 ? 0 : ends[i - 1]!, ends[i]!);
        writer.addRun(isStrictlyAscending(run.times) ? run : mergeRuns([run]));
        writer.endSeries(ids[i]!);
      };
      const present = columns.flatMap((column, field) => (column ? [{ field, column }] : []));
      if (isTogether) writer.addSeriesRows({ ids, ends, times, columns: present }, addOther);
      else for (let i = 0; i < ids.length; i++) addOther(i);
    }
    writer.endMeasurement();
    await writer.finish();
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('series that are encoded together give the same file as one by one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .uniqueArray(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 3 })
        .chain((types) => rowsOf(types).map((rows) => ({ types, rows }))),
      async ({ types, rows }) => {
        const together = await written(types, [rows], true);

        expect(together.equals(await written(types, [rows], false))).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});

test('many series of one row fill pages of the directory as series that come one by one', async () => {
  const count = 4000;
  const portions = Array.from({ length: 2 }, (_, p) => ({
    ids: Uint32Array.from({ length: count }, (_value, i) => p * 20_000 + i * 3),
    ends: Uint32Array.from({ length: count }, (_value, i) => i + 1),
    times: BigInt64Array.from({ length: count }, (_value, i) => BigInt(i % 7)),
    columns: [
      columnFor(
        'float',
        Array.from({ length: count }, (_value, i) => BigInt(i)),
        undefined,
      ),
    ],
  }));

  const together = await written(['float'], portions, true);

  expect(together.equals(await written(['float'], portions, false))).toBe(true);
});
