import { expect, test } from 'vitest';

import { TextBuffer } from './bytes.ts';
import { releaseBuffer, acquireLarge, acquireSmall } from './buffer-pool.ts';

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

test('the next text does not overwrite returned bytes', () => {
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
  const first = new TextBuffer();
  first.ascii('first '.repeat(10_000));
  const text = first.handOver();
  const second = new TextBuffer();
  second.ascii('second '.repeat(10_000));

  expect(decoder.decode(text)).toBe('first '.repeat(10_000));
  releaseBuffer(text);
  const third = new TextBuffer();
  third.ascii('third '.repeat(10_000));
  expect(third.handOver().buffer).toBe(text.buffer);
  expect(decoder.decode(second.handOver())).toBe('second '.repeat(10_000));
});

test('a buffer that is a part of another one, tiny or of no kind is not used again', () => {
  const part = new Uint8Array(8 << 10).subarray(10);
  const others = [part, new Uint8Array(8), new Uint8Array(100 << 10)];
  for (const other of others) releaseBuffer(other);
  const taken = [...repeat(acquireSmall), ...repeat(acquireLarge)].map((buffer) => buffer.buffer);
  for (const { buffer } of others) expect(taken).not.toContain(buffer);
});

/** More buffers than are kept. */
function repeat(take: () => Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: 40 }, take);
}

test('the pieces of a long text need no buffer beyond the first, once those come back', () => {
  const text = new TextBuffer();
  const used = new Set<ArrayBufferLike>();
  for (let round = 0; round < 20; round++) {
    text.ascii('short');
    for (let part = 0; part < 5; part++) text.ascii('part of a long text '.repeat(1_000));
    const piece = text.handOver();
    used.add(piece.buffer);
    releaseBuffer(piece);
    // Buffers that small answers release in between are not used for a long text.
    releaseBuffer(new Uint8Array(8));
    releaseBuffer(new Uint8Array(4 << 10));
  }
  expect(used.size).toBe(1);
});
