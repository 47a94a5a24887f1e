import { columnFrom } from '@tidemark/core';
import { expect, test } from 'vitest';

import { MessageBuffers, prepareBatch } from './transfer.ts';

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

  const prepared = batches.map((batch) => prepareBatch(batch, buffers));
  const whole = buffers.place(large);
  const again = buffers.place(large);
  const received = structuredClone({ prepared, whole, again }, { transfer: [...buffers.all] });

  expect(received.prepared).toEqual(wanted);
  expect(received.whole).toEqual(received.again);
  expect(received.whole[4095]).toBe(2047.5);
  expect(buffers.all.length).toBeLessThan(10);
});
