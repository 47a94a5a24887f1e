// Decoders read everything that encoders write at their limits; beyond them, encoders refuse.
import { stringsOf, textsOf } from '@tidemark/core';
import { expect, test } from 'vitest';

import { CodecError } from './codec-error.ts';
import { Codecs } from './codecs.ts';
import { BLOCK_VALUES_MAX } from './limits.ts';

const codecs = new Codecs();
const COUNT = BLOCK_VALUES_MAX.value;

/** Compares without a message of millions of lines. */
const isSame = (a: Uint8Array | Uint32Array, b: Uint8Array | Uint32Array): boolean =>
  Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) === 0;
const bytesOf = ({ buffer }: { readonly buffer: ArrayBufferLike }): Uint8Array =>
  new Uint8Array(buffer);

test('a block of as many integers as it may have is read again', () => {
  const values = BigInt64Array.from({ length: COUNT }, (_, i) => BigInt((i * 7919) % 1000));

  const decoded = codecs.decodeIntegers(codecs.encodeIntegers(values));

  expect(isSame(bytesOf(decoded), bytesOf(values))).toBe(true);
  expect(() => codecs.encodeIntegers(new BigInt64Array(COUNT + 1))).toThrow(/at most/);
});

test('a block of as many floats as it may have is read again', () => {
  const values = Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 1000) / 10);

  const decoded = codecs.decodeFloats(codecs.encodeFloats(values));

  expect(isSame(bytesOf(decoded), bytesOf(values))).toBe(true);
  expect(() => codecs.encodeFloats(new Float64Array(COUNT + 1))).toThrow(/at most/);
});

test('a block of as many booleans as it may have is read again', () => {
  const values = Uint8Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 1000) % 2);

  expect(isSame(codecs.decodeBooleans(codecs.encodeBooleans(values)), values)).toBe(true);
  expect(() => codecs.encodeBooleans(new Uint8Array(COUNT + 1))).toThrow(/at most/);
});

test('a block of as many texts as it may have is read again', () => {
  const texts = textsOf(['a', 'b', 'c']);
  const codes = Uint32Array.from({ length: COUNT }, (_, i) => (i * 7919) % 3);

  const decoded = codecs.texts.decode(codecs.texts.encode({ codes, texts }));

  const places = stringsOf(decoded.texts).map((text) => stringsOf(texts).indexOf(text));
  expect(
    isSame(
      decoded.codes.map((code) => places[code]!),
      codes,
    ),
  ).toBe(true);
  expect(() => codecs.texts.encode({ codes: new Uint32Array(COUNT + 1), texts })).toThrow(
    /at most/,
  );
});

test('a block of more bytes of texts than are decoded is not written', () => {
  // Its own kernels, whose memory goes with them.
  const own = new Codecs();
  const texts = textsOf(Array.from({ length: 5 }, (_, i) => `${i}`.padEnd(54 << 20, 'x')));
  const codes = Uint32Array.of(0, 1, 2, 3, 4);

  expect(() => own.texts.encode({ codes, texts })).toThrow(CodecError);
});

test('only the texts that rows have are written', () => {
  const used = { codes: Uint32Array.of(0, 1, 0), texts: textsOf(['b', 'd']) };
  const among = { codes: Uint32Array.of(1, 3, 1), texts: textsOf(['a', 'b', 'c', 'd', 'e']) };

  expect(codecs.texts.encode(among)).toEqual(codecs.texts.encode(used));
});

test('unused ones of many texts are not encoded', () => {
  const texts = textsOf(Array.from({ length: 2000 }, (_, i) => `${i}`.padEnd(50_000, 'x')));
  const one = new Codecs();

  // A hundred megabytes of texts: encoded, they would fill the kernel's memory.
  one.texts.encode({ codes: Uint32Array.of(3), texts });

  expect(one.memoryBytes).toBeLessThan(8 << 20);
});
