import { expect, test } from 'vitest';

import type { Disk } from './disk.ts';
import { appendFrames, FRAMED_START } from './framed-file.ts';
import { scanFrames } from './frames.ts';
import { memoryDisk } from './memory-disk.ts';

test('records are appended in few writes, whatever their size', async () => {
  let writes = 0;
  const memory = memoryDisk();
  const disk: Disk = {
    ...memory,
    open: (path, mode) => {
      const file = memory.open(path, mode);
      return {
        ...file,
        write: (bytes, position) => {
          writes++;
          file.write(bytes, position);
        },
      };
    },
  };
  const sizes = [...Array(2000).keys(), 70_000, 1];
  const payloads = sizes.map((size, i) => new Uint8Array(i < 2000 ? size % 100 : size).fill(i));
  const options = { pause: () => Promise.resolve(), keep: () => Promise.resolve() };

  const first = await appendFrames(disk, 'd/f', {
    payloads: payloads.slice(0, 1000),
    end: FRAMED_START,
    ...options,
  });
  expect(writes).toBe(2);
  await appendFrames(disk, 'd/f', { payloads: payloads.slice(1000), end: first, ...options });

  const found = scanFrames(memory.open('d/f', 'read')).payloads;
  expect(found.map(({ length }) => length)).toEqual(payloads.map(({ length }) => length));
  expect(Buffer.concat(found).equals(Buffer.concat(payloads))).toBe(true);
});
