import { columnFrom } from '@tidemark/core';
import { expect, test } from 'vitest';

import type { SchemaBatch } from '@tidemark/query';

import { MessageBuffers } from './message-buffers.ts';
import { ROWS_PACKING } from './packed-rows.ts';
import { SCHEMA_PACKING } from './packed-schema.ts';
import { prepareBatches, receivedBatches } from './packing.ts';

test('batches cross in few buffers and keep their values', () => {
  const buffers = new MessageBuffers();
  const large = Float64Array.from({ length: 4096 }, (_, i) => i / 2);
  const batches = Array.from({ length: 200 }, (_, i) => ({
    seriesKey: `m,t=${i}`,
    tags: new Map([['t', String(i)]]),
    times: BigInt64Array.of(BigInt(i), BigInt(i + 1)),
    columns: [
      columnFrom('integer', [BigInt(i), null]),
      columnFrom('boolean', [true, false]),
      columnFrom('string', ['a', `b${i}`]),
    ],
  }));
  const wanted = structuredClone(batches);

  const prepared = batches.map((batch) => ROWS_PACKING.packOne!(batch, buffers));
  const whole = buffers.place(large);
  const again = buffers.place(large);
  const received = structuredClone({ prepared, whole, again }, { transfer: [...buffers.all] });

  expect(received.prepared).toEqual(wanted);
  expect(received.whole).toEqual(received.again);
  expect(received.whole[4095]).toBe(2047.5);
  expect(buffers.all.length).toBeLessThan(10);
});

test('batches of a schema look-up cross as one text, names and whatever stands alone do not', () => {
  const values = (measurement: string): SchemaBatch => {
    return { kind: 'tag-values', measurement, key: 't"', values: ['ä\n', '\ud800', '\u2028'] };
  };
  const names: SchemaBatch = {
    kind: 'names',
    measurement: 'm',
    tags: [],
    shards: [{ retentionPolicy: 'autogen', start: 0n, end: 10n }],
    fields: [],
    isSettled: true,
  };
  const batches = [values('a'), values('b'), names, values('c')];

  const { prepared } = prepareBatches(SCHEMA_PACKING, batches);

  expect(prepared).toEqual([
    { kind: 'packed-schema', text: expect.any(String) },
    names,
    values('c'),
  ]);
  expect(receivedBatches(SCHEMA_PACKING, structuredClone(prepared))).toEqual(batches);
});

test.each([
  ['tag-values', { kind: 'tag-values', measurement: 'm', key: 't', values: Array(2048).fill('v') }],
  ['series', { kind: 'series', measurement: 'm', keys: Array(2048).fill('m,t=v') }],
  ['measurements', { kind: 'measurements', names: Array(2048).fill('m') }],
] as const)('a batch of %s weighs what its texts do', (_, batch) => {
  // Messages hold 256 KiB: a few of these.
  expect(SCHEMA_PACKING.sizeOf(batch)).toBeGreaterThan(64 << 10);
});
