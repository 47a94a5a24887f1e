import { expect, test } from 'vitest';

import { releasePiece } from './release-piece.ts';

const LARGE = 64 << 10;

test('a large piece that has its buffer for itself gives its memory back, one after the other', () => {
  for (let i = 0; i < 3; i++) {
    const piece = new Uint8Array(LARGE);

    releasePiece(piece);

    expect(piece.length).toBe(0);
    expect(piece.buffer.byteLength).toBe(0);
  }
});

test('a small piece, a part of a buffer and shared memory stay as they are', () => {
  const small = new Uint8Array(1000);
  const part = new Uint8Array(new ArrayBuffer(2 * LARGE), 0, LARGE);
  const shared = new Uint8Array(new SharedArrayBuffer(LARGE));
  for (const piece of [small, part, shared]) {
    const { length } = piece;

    releasePiece(piece);

    expect(piece.length).toBe(length);
  }
});
