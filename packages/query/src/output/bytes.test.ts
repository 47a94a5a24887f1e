import { expect, test } from 'vitest';

import { TextBuffer } from './bytes.ts';
import { giveUsed, takeUsed } from './used-buffers.ts';

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

test('a long text is handed over without a copy, and its buffer is used again when it comes back', () => {
  while (takeUsed() !== undefined);
  const first = new TextBuffer();
  first.ascii('first '.repeat(10_000));
  const text = first.handOver();
  const second = new TextBuffer();
  second.ascii('second '.repeat(10_000));

  expect(decoder.decode(text)).toBe('first '.repeat(10_000));
  giveUsed(text);
  const third = new TextBuffer();
  third.ascii('third '.repeat(10_000));
  expect(third.handOver().buffer).toBe(text.buffer);
  expect(decoder.decode(second.handOver())).toBe('second '.repeat(10_000));
});

test('parts of buffers are not taken for whole ones', () => {
  while (takeUsed() !== undefined);
  giveUsed(new Uint8Array(100).subarray(10));
  expect(takeUsed()).toBeUndefined();
});
