import { gunzipSync } from 'node:zlib';
import { seededRandom } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { packAnswer } from './pack-answer.ts';

test.each([0, 1, 1024, 16_384, 16_385, 1_000_000])(
  'an answer of %i bytes is unpacked as it was',
  async (size) => {
    const random = seededRandom(size);
    const content = Uint8Array.from({ length: size }, () => 48 + Math.floor(random() * 10));

    const packed = await packAnswer(content);

    expect(Buffer.compare(gunzipSync(packed), content)).toBe(0);
    if (size >= 1024) expect(packed.length).toBeLessThan(size * 0.6);
  },
);
