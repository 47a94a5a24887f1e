import { textsOf } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { SeriesBatch } from '@tidemark/query';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { ROWS_PACKING } from './packed-rows.ts';
import { prepareBatches, receivedBatches } from './packing.ts';

const VALUES = [0n, -1n, 5n, 2n ** 62n, -(2n ** 63n), 0x7ff8_0000_0000_0001n];

/**
 * A column of `count` words of one type; NaN payloads would show if words were taken for numbers.
 */
function columnOf(type: Column['type'], count: number, hasNulls: boolean): Column {
  const bits = BigInt64Array.from({ length: count }, (_, i) => VALUES[i % VALUES.length]!);
  const valid = hasNulls ? new Uint8Array(count).fill(1) : undefined;
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(bits.buffer), valid };
    case 'integer':
      return { type, values: bits, valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(bits.buffer), valid };
    case 'boolean':
      return { type, values: new Uint8Array(count).fill(1), valid };
    case 'string':
      return { type, codes: new Uint32Array(count), texts: textsOf(['x']), valid };
  }
}

const columns = fc.array(
  fc.record({
    type: fc.constantFrom<Column['type']>('float', 'integer', 'unsigned', 'boolean', 'string'),
    hasNulls: fc.boolean(),
  }),
  { maxLength: 3 },
);

/** Stretches of batches with the same columns; neighbours may be of one series. */
const batches = fc
  .array(
    fc.record({
      columns,
      parts: fc.array(fc.record({ series: fc.nat(2), rows: fc.nat(2500) }), { maxLength: 4 }),
    }),
    { maxLength: 3 },
  )
  .map((stretches) =>
    stretches.flatMap((stretch) =>
      stretch.parts.map(({ series, rows }): SeriesBatch => ({
        seriesKey: `m,host=${series}`,
        tags: new Map(series === 0 ? [] : [['host', String(series)]]),
        times: BigInt64Array.from({ length: rows }, (_, i) => BigInt(i)),
        columns: stretch.columns.map(({ type, hasNulls }) => columnOf(type, rows, hasNulls)),
      })),
    ),
  );

test('packed values are unpacked unchanged', () => {
  fc.assert(
    fc.property(batches, (list) => {
      const { prepared, transfer } = prepareBatches(ROWS_PACKING, structuredClone(list));

      const received = structuredClone(prepared, { transfer: [...transfer] });

      expect(receivedBatches(ROWS_PACKING, received)).toEqual(list);
    }),
    { numRuns: 25 },
  );
}, 180_000);

test('a few rows of a thousand series travel in one buffer, column by column', () => {
  const batch = (i: number): SeriesBatch => ({
    seriesKey: `m,host=h${i >> 1}`,
    tags: new Map([['host', `h${i >> 1}`]]),
    times: BigInt64Array.of(1n, 2n),
    columns: [{ type: 'float', values: Float64Array.of(i, -0), valid: undefined }],
  });
  const list = Array.from({ length: 1000 }, (_, i) => batch(i));

  const { prepared, transfer } = prepareBatches(ROWS_PACKING, list);
  const [first, second] = receivedBatches(ROWS_PACKING, prepared) as readonly SeriesBatch[];

  expect([prepared.length, transfer.length]).toEqual([1, 1]);
  expect(receivedBatches(ROWS_PACKING, prepared)).toEqual(
    Array.from({ length: 1000 }, (_, i) => batch(i)),
  );
  expect(second?.times.byteOffset).toBe((first?.times.byteOffset ?? 0) + 16);
  expect(second?.tags).toBe(first?.tags);
});
