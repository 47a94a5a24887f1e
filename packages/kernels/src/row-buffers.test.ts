// Parts of large buffers.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RowBuffers, ScratchBuffer } from './row-buffers.ts';

test('parts are as large as asked for, aligned, and do not overlap', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 << 20 }), { maxLength: 12 }), (sizes) => {
      const buffers = new RowBuffers();
      const parts = sizes.map((size) => ({ ...buffers.take(size), size }));

      for (const [i, { buffer, offset, size }] of parts.entries()) {
        expect(offset % 8).toBe(0);
        expect(offset + size).toBeLessThanOrEqual(buffer.byteLength);
        for (const other of parts.slice(i + 1)) {
          if (other.buffer !== buffer) continue;
          expect(other.offset >= offset + size || offset >= other.offset + other.size).toBe(true);
        }
      }
    }),
    { numRuns: 20 },
  );
});

test('many parts share a buffer, small and huge ones have their own', () => {
  const buffers = new RowBuffers();
  const [first, second] = [buffers.take(1 << 20), buffers.take(1 << 20)];
  const [small, huge] = [buffers.take(100), buffers.take(40 << 20)];

  expect(second.buffer).toBe(first.buffer);
  expect(small.buffer.byteLength).toBe(100);
  expect(huge.buffer.byteLength).toBe(40 << 20);
  expect(buffers.take(1 << 20).buffer).toBe(first.buffer);
});

test('a scratch buffer is the same each time, and grows', () => {
  const buffers = new ScratchBuffer();
  const first = buffers.take(1 << 20);
  const second = buffers.take(1000);
  const larger = buffers.take(3 << 20);

  expect(second).toEqual(first);
  expect(second.buffer).toBe(first.buffer);
  expect(larger.buffer.byteLength).toBeGreaterThanOrEqual(3 << 20);
  expect(buffers.take(40 << 20).buffer.byteLength).toBe(40 << 20);
  expect(buffers.take(1000).buffer).toBe(larger.buffer);
});
