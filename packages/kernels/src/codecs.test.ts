import {
  MAX_INT64,
  MIN_INT64,
  MAX_UINT64,
  stringsOf,
  textAt,
  textCount,
  textsOf,
} from '@tidemark/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CodecError } from './codec-error.ts';
import { Codecs } from './codecs.ts';
import type { CodedStrings } from './text-codec.ts';

const codecs = new Codecs();

/** Bytes of a typed array, so that −0 and NaN payloads are compared bit by bit. */
function bitsOf(array: BigInt64Array | BigUint64Array | Float64Array | Uint8Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

// Sequences as they occur: noise, walks, steady steps, repeated values, long enough for several
// groups.
const int64 = fc.oneof(
  fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }),
  fc.bigInt({ min: -300n, max: 300n }),
  fc.constantFrom(MIN_INT64, MAX_INT64, 0n, -1n, 2n ** 53n, -(2n ** 62n)),
);
const walk = fc
  .tuple(int64, fc.array(fc.bigInt({ min: -9n, max: 9n }), { minLength: 1, maxLength: 700 }))
  .map(([start, steps]) => {
    const values: bigint[] = [];
    let value = start;
    for (const step of steps) values.push((value = BigInt.asIntN(64, value + step)));
    return values;
  });
const steady = fc
  .tuple(int64, int64, fc.nat(300))
  .map(([start, step, count]) =>
    Array.from({ length: count }, (_, i) => BigInt.asIntN(64, start + step * BigInt(i))),
  );
const integers = fc.oneof(fc.array(int64, { maxLength: 400 }), walk, steady);

const double = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 100),
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(-0, 0, Infinity, -Infinity, 5e-324, -5e-324, 1.7976931348623157e308, 0.1, 1e22),
);
const floats = fc.oneof(
  fc.array(double, { maxLength: 400 }),
  fc.array(
    fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 1000),
    { maxLength: 400 },
  ),
  fc.tuple(double, fc.nat(300)).map(([value, count]) => Array.from({ length: count }, () => value)),
);
const efforts = fc.constantFrom('fast' as const, 'small' as const);

describe('codecs give back what they were given', () => {
  test('times and integers', () => {
    fc.assert(
      fc.property(integers, efforts, (values, effort) => {
        const column = BigInt64Array.from(values);

        expect(codecs.decodeIntegers(codecs.encodeIntegers(column, effort))).toEqual(column);
        expect(codecs.decodeTimes(codecs.encodeTimes(column, effort))).toEqual(column);
      }),
      { numRuns: 400 },
    );
  });

  test('ids, as the integers that they are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff_ffff), { maxLength: 300 }), efforts, (values, effort) => {
        const ids = Uint32Array.from(values);
        const block = codecs.encodeIds(ids, effort);

        expect(codecs.decodeIds(block)).toEqual(ids);
        expect(block).toEqual(codecs.encodeIntegers(BigInt64Array.from(values, BigInt), effort));
      }),
    );
    expect(() => codecs.decodeIds(codecs.encodeIntegers(BigInt64Array.of(1n << 32n)))).toThrow(
      CodecError,
    );
  });

  test('unsigned integers', () => {
    const unsigned = fc.array(
      fc.oneof(fc.bigInt({ min: 0n, max: MAX_UINT64 }), fc.constantFrom(0n, MAX_UINT64, 2n ** 63n)),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(unsigned, efforts, (values, effort) => {
        const column = BigUint64Array.from(values);

        expect(codecs.decodeUnsigneds(codecs.encodeUnsigneds(column, effort))).toEqual(column);
      }),
    );
  });

  test('floats, bit by bit', () => {
    fc.assert(
      fc.property(floats, efforts, (values, effort) => {
        const column = Float64Array.from(values);

        const back = codecs.decodeFloats(codecs.encodeFloats(column, effort));

        expect(bitsOf(back)).toEqual(bitsOf(column));
      }),
      { numRuns: 400 },
    );
  });

  test('floats of arbitrary bits, NaN payloads among them', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: MAX_UINT64 }), { maxLength: 200 }), (bits) => {
        const column = new Float64Array(BigUint64Array.from(bits).buffer);

        expect(bitsOf(codecs.decodeFloats(codecs.encodeFloats(column)))).toEqual(bitsOf(column));
      }),
    );
  });

  test('booleans and validity', () => {
    const bits = fc.oneof(
      fc.array(fc.nat(1), { maxLength: 300 }),
      fc
        .array(fc.tuple(fc.nat(1), fc.nat(200)), { maxLength: 8 })
        .map((runs) => runs.flatMap(([bit, length]) => Array.from({ length }, () => bit))),
    );
    fc.assert(
      fc.property(bits, (values) => {
        const column = Uint8Array.from(values);

        expect(codecs.decodeBooleans(codecs.encodeBooleans(column))).toEqual(column);
        expect(codecs.decodeValidity(codecs.encodeValidity(column))).toEqual(column);
      }),
    );
  });

  test('strings', () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.constantFrom('', 'info', 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
      fc.nat(50).map((n) => `connection to "db" after ${n} ms`),
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 300 }), efforts, (texts, effort) => {
        const dictionary = [...new Set(texts)].toReversed();
        const codes = Uint32Array.from(texts, (text) => dictionary.indexOf(text));

        const coded = { codes, texts: textsOf(dictionary) };
        const back = codecs.texts.decode(codecs.texts.encode(coded, effort));

        expect(Array.from(back.codes, (code) => textAt(back.texts, code))).toEqual(texts);
        expect(new Set(stringsOf(back.texts)).size).toBe(textCount(back.texts));
      }),
    );
  });
});

describe('codecs are small where data is regular', () => {
  test('a steady clock takes a few bytes whatever its length', () => {
    const times = BigInt64Array.from(
      { length: 8000 },
      (_, i) => 1_600_000_000_000_000_000n + 10_000_000_000n * BigInt(i),
    );

    expect(codecs.encodeTimes(times).length).toBeLessThan(24);
  });

  test('a clock with jitter below one microsecond takes less than 1.5 bytes per point', () => {
    const times = BigInt64Array.from(
      { length: 8000 },
      (_, i) => 10_000_000_000n * BigInt(i) + BigInt((i * 7919) % 500),
    );

    expect(codecs.encodeTimes(times).length).toBeLessThan(8000 * 1.5);
  });

  test('a walk with small steps takes less than 0.3 bytes per value when small is asked for', () => {
    const values = BigInt64Array.from(normalWalk(8640));

    expect(codecs.encodeIntegers(values, 'small').length).toBeLessThan(8640 * 0.3);
    expect(codecs.encodeIntegers(values, 'fast').length).toBeLessThan(8640 * 0.6);
  });

  test('decimals with two places take less than two bytes per value', () => {
    const values = Float64Array.from({ length: 4096 }, (_, i) => ((i * 7919) % 10_000) / 100);

    expect(codecs.encodeFloats(values).length).toBeLessThan(4096 * 2);
  });

  test('constants take a few bytes', () => {
    expect(codecs.encodeFloats(new Float64Array(5000).fill(-0)).length).toBeLessThan(16);
    expect(codecs.encodeIntegers(new BigInt64Array(5000).fill(MIN_INT64)).length).toBeLessThan(16);
    expect(codecs.encodeValidity(new Uint8Array(5000).fill(1)).length).toBeLessThan(8);
  });

  test('no encoding is longer than the raw values and a header', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: MAX_UINT64 }), { maxLength: 200 }), (bits) => {
        const ints = BigUint64Array.from(bits);

        expect(codecs.encodeUnsigneds(ints).length).toBeLessThanOrEqual(bits.length * 8 + 12);
        expect(codecs.encodeFloats(new Float64Array(ints.buffer)).length).toBeLessThanOrEqual(
          bits.length * 8 + 26,
        );
      }),
    );
  });
});

describe('decoders survive any bytes', () => {
  const decoders = [
    (bytes: Uint8Array) => codecs.decodeIntegers(bytes),
    (bytes: Uint8Array) => codecs.decodeFloats(bytes),
    (bytes: Uint8Array) => codecs.decodeBooleans(bytes),
    (bytes: Uint8Array) => codecs.texts.decode(bytes),
    (bytes: Uint8Array) => codecs.texts.decodeAt(bytes, Uint32Array.of(0)),
  ];

  function decodeOrCodecError(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): void {
    try {
      decode(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(CodecError);
    }
  }

  test('random bytes', () => {
    // Known encoding bytes at the right place reach further than noise does.
    const start = fc.tuple(
      fc.nat(255),
      fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x30, 0x31),
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
        for (const decode of decoders) {
          decodeOrCodecError(decode, Uint8Array.from([...head, ...tail]));
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('blocks with a flipped bit or a cut end', () => {
    const samples: (readonly [(bytes: Uint8Array) => unknown, Uint8Array])[] = [
      [decoders[0]!, codecs.encodeIntegers(BigInt64Array.from(normalWalk(500)), 'small')],
      [decoders[0]!, codecs.encodeIntegers(BigInt64Array.from(normalWalk(500)), 'fast')],
      [decoders[1]!, codecs.encodeFloats(Float64Array.from({ length: 300 }, (_, i) => i / 7))],
      [decoders[1]!, codecs.encodeFloats(Float64Array.from({ length: 300 }, (_, i) => i / 4 - 0))],
      [
        decoders[2]!,
        codecs.encodeBooleans(Uint8Array.from({ length: 300 }, (_, i) => (i % 3) & 1)),
      ],
      [decoders[3]!, codecs.texts.encode(distinctTexts(400, 20), 'small')],
      [decoders[4]!, codecs.texts.encode(distinctTexts(100, 20), 'small')],
      [
        decoders[3]!,
        codecs.texts.encode({
          codes: Uint32Array.from({ length: 200 }, (_, i) => i % 20),
          texts: textsOf(Array.from({ length: 20 }, (_, i) => `message number ${i} of many`)),
        }),
      ],
    ];
    for (const [decode, block] of samples) {
      for (let bit = 0; bit < block.length * 8; bit++) {
        const damaged = block.slice();
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        decodeOrCodecError(decode, damaged);
      }
      for (let length = 0; length < block.length; length++) {
        expect(() => decode(block.subarray(0, length))).toThrow(CodecError);
      }
      expect(() => decode(Uint8Array.from([...block, 0]))).toThrow(CodecError);
    }
  });
});

describe('crc32c', () => {
  test('gives the published check values', () => {
    expect(codecs.crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
    expect(codecs.crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(codecs.crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
    expect(codecs.crc32c(new Uint8Array(0))).toBe(0);
  });

  test('can be continued at any byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
        const first = codecs.crc32c(bytes.subarray(0, cut));

        expect(codecs.crc32c(bytes.subarray(cut), first)).toBe(codecs.crc32c(bytes));
      }),
    );
  });
});

/** Whole parts of a walk with normally distributed steps, from a fixed seed. */
function normalWalk(count: number): bigint[] {
  let state = 12345;
  const uniform = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state + 1) / 0x80000001;
  };
  const values: bigint[] = [];
  let x = 50;
  for (let i = 0; i < count; i++) {
    values.push(BigInt(Math.floor(x)));
    const step = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    x = Math.min(100, Math.max(0, x + step));
  }
  return values;
}

test('a text keeps the byte order mark that it begins with', () => {
  const strings = { codes: Uint32Array.of(0, 1), texts: textsOf(['\uFEFFx', '\uFEFF']) };

  const decoded = codecs.texts.decode(codecs.texts.encode(strings));

  expect(stringsOf(decoded.texts)).toEqual(['\uFEFFx', '\uFEFF']);
});

test('a search finds the values whose texts contain the needle and are accepted', () => {
  const char = fc.constantFrom('a', 'b', 'é', ' ');
  const text = fc.array(char, { maxLength: 40 }).map((chars) => chars.join(''));
  const needles = fc.array(char, { minLength: 1, maxLength: 20 }).map((chars) => chars.join(''));
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 60 }),
      needles,
      fc.constantFrom('matches' as const, 'others' as const),
      (values, needle, keeps) => {
        const dictionary = [...new Set(values)];
        const codes = Uint32Array.from(values, (value) => dictionary.indexOf(value));
        const block = codecs.texts.encode({ codes, texts: textsOf(dictionary) }, 'small');
        const tried: string[] = [];
        const accepts = (value: string): boolean => {
          tried.push(value);
          return value.length % 3 !== 0;
        };
        const search = { needle: new TextEncoder().encode(needle), accepts, keeps };
        const mask = codecs.texts.match(block, search);
        const matches = values.map((value) => value.includes(needle) && value.length % 3 !== 0);
        expect([...mask]).toEqual(matches.map((does) => Number(does === (keeps === 'matches'))));
        expect(tried).toEqual(dictionary.filter((value) => value.includes(needle)));
      },
    ),
    { numRuns: 500 },
  );
});

test('bytes of old files that are no UTF-8 are read as a decoder replaces them', () => {
  const bytes = Uint8Array.of(0x61, 0xff, 0x62, 0xc3, 0xa9, 0xe2, 0x82);
  const texts = { bytes, offsets: Uint32Array.of(0, 3, 5, 7) };
  const block = codecs.texts.encode({ codes: Uint32Array.of(0, 1, 2), texts });
  const wanted = ['a\ufffdb', 'é', '\ufffd'];

  expect(stringsOf(codecs.texts.decode(block).texts)).toEqual(wanted);
  const { codes, texts: some } = codecs.texts.decodeAt(block, Uint32Array.of(2, 0));
  expect(Array.from(codes, (code) => textAt(some, code))).toEqual([wanted[2], wanted[0]]);
});

/** Texts that are all different. */
function distinctTexts(count: number, length: number): CodedStrings {
  const codes = Uint32Array.from({ length: count }, (_, i) => i);
  const texts = textsOf(
    Array.from(codes, (i) => `${Math.imul(i + 1, 0x9e3779b1) >>> 0}`.padEnd(length, `é ${i} `)),
  );
  return { codes, texts };
}

test('distinct texts lie in frames, of which only those with wanted rows are unpacked', () => {
  const own = new Codecs();
  const strings = distinctTexts(3000, 140);
  const all = stringsOf(strings.texts);
  const block = own.texts.encode(strings, 'small');
  const read = (...places: number[]): readonly [texts: string[], frames: number] => {
    const before = own.texts.unpackedFrames;
    const { codes, texts } = own.texts.decodeAt(block, Uint32Array.from(places));
    const frames = own.texts.unpackedFrames - before;
    return [Array.from(codes, (code) => textAt(texts, code)), frames];
  };

  expect(stringsOf(own.texts.decode(block).texts)).toEqual(all);
  expect(read(2999)).toEqual([[all[2999]], 1]);
  expect(read(2999, 0, 2998, 1)).toEqual([[all[2999], all[0], all[2998], all[1]], 2]);
  expect(read(100, 101, 102)).toEqual([all.slice(100, 103), 1]);
  expect(read()).toEqual([[], 0]);
  expect(() => read(3000)).toThrow(CodecError);
});

test('texts of any lengths come back from frames', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.tuple(fc.nat(9), fc.nat(70_000)).map(([char, length]) => `${char}`.repeat(length)),
  );
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 64, maxLength: 700 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (texts, picks) => {
        const codes = Uint32Array.from(texts, (_, i) => i);
        const block = codecs.texts.encode({ codes, texts: textsOf(texts) }, 'small');
        const places = Uint32Array.from(picks, (pick) => pick % texts.length);

        const { codes: all, texts: back } = codecs.texts.decode(block);
        expect(Array.from(all, (code) => textAt(back, code))).toEqual(texts);
        const some = codecs.texts.decodeAt(block, places);
        expect(Array.from(some.codes, (code) => textAt(some.texts, code))).toEqual(
          Array.from(places, (place) => texts[place]),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('a frame of which a block has no more than the beginning is not read', () => {
  const texts = Array.from({ length: 64 }, (_, i) => `${i}`);
  // No other memory follows a frame of so many bytes.
  texts[60] = Array.from({ length: 1 << 19 }, (_, i) => Math.imul(i + 1, 0x9e3779b1)).join('');
  const codes = Uint32Array.from(texts, (_, i) => i);
  const block = codecs.texts.encode({ codes, texts: textsOf(texts) }, 'small');

  const cut = block.subarray(0, 2000);

  expect(() => new Codecs().texts.decodeAt(cut, Uint32Array.of(60))).toThrow(CodecError);
});
