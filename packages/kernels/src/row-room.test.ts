// Parts of large buffers.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { RowRoom, ScratchRoom } from './row-room.ts';

test('parts are as large as asked for, aligned, and do not overlap', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 << 20 }), { maxLength: 12 }), (sizes) => {
      const room = new RowRoom();
      const parts = sizes.map((size) => ({ ...room.take(size), size }));

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
  const room = new RowRoom();
  const [first, second] = [room.take(1 << 20), room.take(1 << 20)];
  const [small, huge] = [room.take(100), room.take(40 << 20)];

  expect(second.buffer).toBe(first.buffer);
  expect(small.buffer.byteLength).toBe(100);
  expect(huge.buffer.byteLength).toBe(40 << 20);
  expect(room.take(1 << 20).buffer).toBe(first.buffer);
});

test('scratch room is the same each time, and grows', () => {
  const room = new ScratchRoom();
  const first = room.take(1 << 20);
  const second = room.take(1000);
  const larger = room.take(3 << 20);

  expect(second).toEqual(first);
  expect(second.buffer).toBe(first.buffer);
  expect(larger.buffer.byteLength).toBeGreaterThanOrEqual(3 << 20);
  expect(room.take(40 << 20).buffer.byteLength).toBe(40 << 20);
  expect(room.take(1000).buffer).toBe(larger.buffer);
});
