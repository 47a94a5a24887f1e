import { floorDiv, textsOf } from '@tidemark/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { JsonRows } from './json-rows.ts';
import type { JsonColumn } from './json-rows.ts';

const printer = new JsonRows();

function printed(columns: readonly JsonColumn[], rowCount: number): string {
  let text = '';
  expect(printer.canPrint(columns)).toBe(true);
  const infinite = printer.print(columns, rowCount, (bytes) => {
    text += new TextDecoder().decode(bytes);
  });
  expect(infinite).toBeUndefined();
  return text;
}

function floatTexts(values: readonly number[]): readonly string[] {
  const column = { kind: 'float', values: Float64Array.from(values), valid: undefined } as const;
  const text = printed([column], values.length);
  return text === '' ? [] : text.slice(1, -1).split('],[');
}

/** JavaScript's own text of a number, which is also the shortest. */
function expectedText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

describe('floats', () => {
  test('of every size and precision are printed as the language does', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc
            .oneof(
              fc.double({ noNaN: true, noDefaultInfinity: true }),
              fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
              fc.integer().map((n) => n / 100),
              fc.integer(),
              fc
                .tuple(fc.integer({ min: -324, max: 308 }), fc.nat(99))
                .map(([e, n]) => Number(`${n}e${e}`)),
            )
            .filter((value) => Number.isFinite(value)),
          { maxLength: 200 },
        ),
        (values) => {
          expect(floatTexts(values)).toEqual(values.map(expectedText));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('with any bits are printed as the language does', () => {
    const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(fc.array(bits, { minLength: 50, maxLength: 200 }), (list) => {
        const values = [...new Float64Array(BigUint64Array.from(list).buffer)].filter((value) =>
          Number.isFinite(value),
        );

        expect(floatTexts(values)).toEqual(values.map(expectedText));
      }),
      { numRuns: 300 },
    );
  });

  test('at every power of two and its neighbours', () => {
    const values: number[] = [];
    const words = new BigUint64Array(1);
    for (let exponent = 0n; exponent < 2047n; exponent++) {
      for (const step of [-1n, 0n, 1n]) {
        words[0] = (exponent << 52n) + step;
        const [value] = new Float64Array(words.buffer);
        if (Number.isFinite(value)) values.push(value!, -value!);
      }
    }

    expect(floatTexts(values)).toEqual(values.map(expectedText));
  });

  test('at the borders of the notations', () => {
    const values = [1e21, 1e21 - 131072, 1e-6, 1e-7, 9.999e-7, 0.000001234, 123456789012345680000];

    expect(floatTexts([...values, 0, -0, 5e-324, 1.7976931348623157e308])).toEqual(
      [...values, 0, -0, 5e-324, 1.7976931348623157e308].map(expectedText),
    );
  });

  test('that are not numbers are null, infinite ones end the printing', () => {
    const values = Float64Array.of(1, Number.NaN, Number.NEGATIVE_INFINITY);
    const column = { kind: 'float', values, valid: undefined } as const;

    expect(floatTexts([1, Number.NaN])).toEqual(['1', 'null']);
    expect(printer.print([column], 3, () => undefined)).toBe(Number.NEGATIVE_INFINITY);
  });
});

test('integers have all their digits', () => {
  const signed = fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.bigInt(-12n, 12n),
    fc.nat(19).map((n) => 10n ** BigInt(Math.min(n, 18)) - (n % 2 === 0 ? 0n : 1n)),
  );
  fc.assert(
    fc.property(fc.array(signed, { minLength: 1 }), (list) => {
      const integers = BigInt64Array.from(list);
      const unsigneds = BigUint64Array.from(list, (n) => BigInt.asUintN(64, n));
      const text = printed(
        [
          { kind: 'integer', values: integers, valid: undefined },
          { kind: 'unsigned', values: unsigneds, valid: undefined },
          { kind: 'epoch', values: integers, valid: undefined, unitNanos: 3_600_000_000_000n },
        ],
        list.length,
      );

      const rows = list.map((n) => `[${n},${BigInt.asUintN(64, n)},${n / 3_600_000_000_000n}]`);
      expect(text).toBe(rows.join(','));
    }),
  );
});

test('times are RFC 3339 with as many decimals as they need', () => {
  const time = fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.bigInt(-9223372036n, 9223372036n).map((seconds) => seconds * 1_000_000_000n),
    fc.bigInt(-10_000_000n, 10_000_000n).map((millis) => millis * 86_400_000_000n),
  );
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (list) => {
      const text = printed(
        [{ kind: 'time', values: BigInt64Array.from(list), valid: undefined }],
        list.length,
      );

      const rows = list.map((nanos) => {
        const seconds = floorDiv(nanos, 1_000_000_000n);
        const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
        const rest = String(nanos - seconds * 1_000_000_000n)
          .padStart(9, '0')
          .replace(/0+$/, '');
        return `["${whole}${rest === '' ? '' : `.${rest}`}Z"]`;
      });
      expect(text).toBe(rows.join(','));
    }),
  );
});

test('columns stand beside each other, nulls where there is no value', () => {
  const count = 10_000;
  const numbers = Array.from({ length: count }, (_, i) => i);
  const texts = textsOf(['a', 'long one']);
  const text = printed(
    [
      {
        kind: 'text',
        values: Uint32Array.from(numbers, (i) => i % 2),
        valid: Uint8Array.from(numbers, (i) => (i % 3 === 0 ? 0 : 1)),
        texts,
      },
      { kind: 'boolean', values: Uint8Array.from(numbers, (i) => i & 1), valid: undefined },
      { kind: 'float', values: Float64Array.from(numbers, (i) => i / 4), valid: undefined },
    ],
    count,
  );

  const rows = numbers.map((i) => {
    const word = i % 3 === 0 ? 'null' : i % 2 === 0 ? '"a"' : '"long one"';
    return `[${word},${i % 2 === 1},${i / 4}]`;
  });
  expect(text).toBe(rows.join(','));
});

test('texts are escaped as clients of InfluxDB expect', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      '"',
      '\\',
      '<b>&amp;',
      '\u2028',
      '\u2029',
      '\u2027',
      '\u20ac',
      '\n\t\b\f\r\0\x1f',
    ),
    fc.constant('a plain text of more than sixteen bytes'),
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
      const values = Uint32Array.from(texts, (_, i) => i);
      const column = { kind: 'text', values, valid: undefined, texts: textsOf(texts) } as const;

      expect(printed([column], texts.length)).toBe(
        texts.map((one) => `[${escaped(JSON.stringify(one))}]`).join(','),
      );
    }),
    { numRuns: 500 },
  );
});

function escaped(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

test('rows whose texts fill the buffer many times are all printed', () => {
  const texts = Array.from({ length: 300 }, (_, i) => `${'\x01'.repeat(i * 37)}${i}`);
  const values = Uint32Array.from({ length: 3000 }, (_, i) => (i * 7) % 300);
  const numbers = BigInt64Array.from(values, BigInt);
  const text = printed(
    [
      { kind: 'integer', values: numbers, valid: undefined },
      { kind: 'text', values, valid: undefined, texts: textsOf(texts) },
    ],
    values.length,
  );

  const rows = JSON.parse(`[${text}]`) as [number, string][];
  expect(rows.map(([number]) => number)).toEqual([...values]);
  expect(rows.every(([number, one]) => one === texts[number])).toBe(true);
});

test('rows that could be longer than the buffer are refused beforehand', () => {
  const texts = textsOf(['x'.repeat(1 << 18)]);
  const column = {
    kind: 'text',
    values: Uint32Array.of(0),
    valid: undefined,
    texts,
  } as const;

  expect(printer.canPrint([column])).toBe(false);
});

test('rows of very many columns are printed one by one', () => {
  const columns = Array.from({ length: 12_000 }, (_, i) => {
    const values = Float64Array.of(i, i / 8, -i);
    return { kind: 'float', values, valid: Uint8Array.of(1, i % 2, 1) } as const;
  });
  const parts: string[] = [];

  expect(printer.canPrint(columns)).toBe(true);
  printer.print(columns, 3, (text) => parts.push(new TextDecoder().decode(text)));
  const rows = [0, 1, 2].map((row) =>
    columns.map(({ values, valid }) => (valid[row] === 1 ? values[row]! : null)),
  );
  expect(JSON.parse(`[${parts.join('')}]`)).toEqual(rows);
});
