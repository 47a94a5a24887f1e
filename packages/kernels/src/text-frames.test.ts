// Frames of texts: their codes, their filters, and what of a block is read for a search.
import { isExactInUtf8, textAt, textsOf } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { Codecs } from './codecs.ts';
import { CodecError } from './codec-error.ts';
import type { ReadBytes, TextSearch } from './text-codec.ts';

const codecs = new Codecs();

function blockOf(texts: readonly string[]): Uint8Array {
  const codes = Uint32Array.from(texts, (_, i) => i);
  return codecs.texts.encode({ codes, texts: textsOf(texts) }, 'small');
}

function searchOf(needle: string, keeps: TextSearch['keeps'] = 'matches'): TextSearch {
  return { needle: new TextEncoder().encode(needle), accepts: () => true, keeps };
}

/** A reader of a block, and how many bytes it read. */
function counting(block: Uint8Array): { readonly read: ReadBytes; bytes: number } {
  const counted = {
    bytes: 0,
    read: (offset: number, length: number): Uint8Array => {
      counted.bytes += length;
      return block.subarray(offset, offset + length);
    },
  };
  return counted;
}

function framesOf(work: () => unknown): number {
  const before = codecs.texts.unpackedFrames;
  work();
  return codecs.texts.unpackedFrames - before;
}

/** Sixteen hexadecimal digits that nobody can guess from others. */
function digits(seed: number): string {
  const words = [1, 2].map((i) => Math.imul((seed + i) ^ ((seed * i) << 13), 0x9e3779b1) >>> 0);
  return words.map((word) => word.toString(16).padStart(8, '0')).join('');
}

function messages(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const what = i % 1000 === 500 ? 'deadlock found, rolled back' : 'request answered';
    return `id=${digits(i)} ${what}; trace ${digits(i)}${digits(i + 7)}${digits(i + 9)} of ${i}`;
  });
}

test('random digits take little more than half of their bytes', () => {
  const texts = Array.from({ length: 1000 }, (_, i) => digits(i) + digits(i + 5) + digits(i + 8));

  expect(blockOf(texts).length).toBeLessThan(0.6 * texts.length * 48);
});

test('a search unpacks only frames whose filter has all parts of its words', () => {
  const texts = messages(3000);
  const block = blockOf(texts);
  const all = framesOf(() => codecs.texts.decode(block));
  const rowsWith = (needle: string): number[] =>
    texts.flatMap((text, row) => (text.includes(needle) ? [row] : []));
  const found = (needle: string): number[] =>
    [...codecs.texts.match(block, searchOf(needle)).entries()].flatMap(([row, isFound]) =>
      isFound === 1 ? [row] : [],
    );
  const id = `id=${digits(1234).slice(0, 5)}`;

  expect(all).toBeGreaterThan(20);
  expect(found('deadlock')).toEqual([500, 1500, 2500]);
  expect(found(id)).toEqual(rowsWith(id));
  expect(found('trace')).toEqual(rowsWith('trace'));
  expect(framesOf(() => found('deadlock'))).toBeLessThan(all / 4);
  expect(framesOf(() => found(id))).toBeLessThan(all / 4);
  // Words that are nowhere; a literal that has no gram; one that every frame has.
  expect(framesOf(() => found('connection refused by peer'))).toBe(0);
  expect(framesOf(() => found('=7f'))).toBe(all);
  expect(framesOf(() => found('trace'))).toBe(all);
  const others = codecs.texts.match(block, searchOf('deadlock', 'others'));
  expect(others.reduce((sum, one) => sum + one, 0)).toBe(2997);
});

test('no more is read than the head, the filters, and the frames that may match', () => {
  const block = blockOf(messages(3000));
  const nothing = counting(block);
  const deadlocks = counting(block);
  const row = counting(block);

  codecs.texts.matchFramed(nothing.read, block.length, searchOf('connection refused'));
  codecs.texts.matchFramed(deadlocks.read, block.length, searchOf('deadlock'));
  codecs.texts.decodeFramedAt(row.read, block.length, Uint32Array.of(1700));

  expect(nothing.bytes).toBeLessThan(block.length / 4);
  expect(deadlocks.bytes).toBeLessThan(block.length / 2);
  expect(row.bytes).toBeLessThan(block.length / 8);
});

test('a search finds what the texts contain, whatever they are', () => {
  const piece = fc.oneof(
    fc.constantFrom('error', 'id=', ' ', '-', '7f', 'ümlaut', '日本語', 'A1b2', '0x', '\u0000'),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.stringMatching(/^[0-9a-f]{1,9}$/),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const wellFormed = text.filter((one) => isExactInUtf8(one));
  fc.assert(
    fc.property(
      fc.array(wellFormed, { minLength: 64, maxLength: 400 }),
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 9 }),
      (texts, row, from, length) => {
        const chars = [...texts[row % texts.length]!];
        const start = from % Math.max(1, chars.length);
        const needle = chars.slice(start, start + length).join('') || 'x';
        const found = codecs.texts.match(blockOf(texts), searchOf(needle));

        expect(Array.from(found)).toEqual(texts.map((one) => (one.includes(needle) ? 1 : 0)));
      },
    ),
    { numRuns: 300 },
  );
});

test('damaged filters and frames are not searched', () => {
  const block = blockOf(messages(300));
  const search = searchOf('deadlock');
  const answer = codecs.texts.match(block, search);
  let refused = 0;
  for (let at = 1; at < block.length; at += 7) {
    const damaged = block.slice();
    damaged[at]! ^= 0x10;
    try {
      // Bytes of frames that the filter leaves out are not looked at.
      expect(codecs.texts.match(damaged, search)).toEqual(answer);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      refused++;
    }
  }

  expect(refused).toBeGreaterThan(50);
});

test('frames whose lengths contradict their texts are refused', () => {
  const texts = messages(64);
  const block = blockOf(texts);
  const { codes, texts: back } = codecs.texts.decode(block);

  expect(Array.from(codes, (code) => textAt(back, code))).toEqual(texts);
  expect(() => codecs.texts.decode(block.subarray(0, block.length - 1))).toThrow(CodecError);
});
