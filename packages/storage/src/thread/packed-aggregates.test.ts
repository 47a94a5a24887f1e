import { textsOf } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import type { AggregateBatch, AggregateColumn } from '@tidemark/query';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { AGGREGATES_PACKING } from './packed-aggregates.ts';
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

const layout = fc.array(
  fc.array(
    fc.record({
      type: fc.constantFrom<Column['type']>('float', 'integer', 'unsigned', 'boolean', 'string'),
      hasTimes: fc.boolean(),
      hasNulls: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
  { maxLength: 3 },
);

const batches = fc
  .array(
    fc.record({
      layout,
      groups: fc.array(fc.nat(1500), { maxLength: 4 }),
      source: fc.constantFrom(undefined, 1, 2),
    }),
    { maxLength: 3 },
  )
  .map((runs) =>
    runs.flatMap(({ layout: fields, groups, source }, run) =>
      groups.map((count, group): AggregateBatch => ({
        source,
        groupTags: new Map([['host', `${run}-${group}`]]),
        windowStarts: BigInt64Array.from({ length: count }, (_, i) => BigInt(i)),
        fields: fields.map((field) =>
          field.map(({ type, hasTimes, hasNulls }): AggregateColumn => {
            const values = columnOf(type, count, hasNulls);
            return hasTimes
              ? { values, pointTimes: new BigInt64Array(count).fill(7n) }
              : { values };
          }),
        ),
      })),
    ),
  );

test('packed values are unpacked unchanged', () => {
  fc.assert(
    fc.property(batches, (list) => {
      const { prepared, transfer } = prepareBatches(AGGREGATES_PACKING, structuredClone(list));

      const received = structuredClone(prepared, { transfer: [...transfer] });

      expect(receivedBatches(AGGREGATES_PACKING, received)).toEqual(list);
    }),
    { numRuns: 30 },
  );
}, 180_000);

test('a thousand small groups travel in one buffer', () => {
  const group = (i: number): AggregateBatch => ({
    groupTags: new Map([['host', `h${i}`]]),
    windowStarts: BigInt64Array.of(1n, 2n),
    fields: [[{ values: { type: 'float', values: Float64Array.of(i, -0), valid: undefined } }]],
  });
  const list = Array.from({ length: 1000 }, (_, i) => group(i));

  const { prepared, transfer } = prepareBatches(AGGREGATES_PACKING, list);

  expect([prepared.length, transfer.length]).toEqual([1, 1]);
  expect(receivedBatches(AGGREGATES_PACKING, prepared)).toEqual(
    Array.from({ length: 1000 }, (_, i) => group(i)),
  );
});
