import { expect, test } from 'vitest';

import { TextBuffer } from './bytes.ts';

const decoder = new TextDecoder();

test('texts that are written at the same time stay apart, however they grow', () => {
  const buffers = Array.from({ length: 8 }, () => new TextBuffer());
  const texts: string[] = buffers.map(() => '');
  for (let round = 0; round < 200; round++) {
    for (const [i, buffer] of buffers.entries()) {
      const text = `${i}:${round},`.repeat((round * (i + 1)) % 97);
      buffer.text(text);
      texts[i] += text;
      if (round % (i + 3) > 0) continue;
      expect(decoder.decode(buffer.take())).toBe(texts[i]);
      texts[i] = '';
    }
  }
  expect(buffers.map((buffer) => decoder.decode(buffer.take()))).toEqual(texts);
});

test('what was taken is not written over by the next text', () => {
  const first = new TextBuffer();
  first.ascii('first');
  const taken = first.take();
  const second = new TextBuffer();
  second.ascii('second');

  expect(decoder.decode(taken)).toBe('first');
  expect(decoder.decode(second.take())).toBe('second');
  expect(decoder.decode(first.take())).toBe('');
});
