import { parseLines } from '@tidemark/line-protocol';
import { columnValue } from '@tidemark/core';
import type { Precision } from '@tidemark/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PointBatch } from '../point-batch.ts';
import { ColumnParser } from './column-parser.ts';
import { WriteParser } from './parse-write.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const NOW = 1_700_000_000_123_456_789n;
const options = { database: 'd', retentionPolicy: 'r', precision: 'ns' as Precision, now: NOW };

/** The rows of a batch as values. */
function rows(batch: PointBatch): unknown[] {
  return Array.from({ length: batch.rowCount }, (_, row) => {
    const series = batch.series.at(batch.seriesOfRow[row] ?? 0);
    const block = batch.blocks[batch.blockOfRow?.[row] ?? 0];
    const inBlock = batch.rowInBlock?.[row] ?? row;
    const fields = block?.columns.map((column, i) => [
      block.fieldNames[i],
      columnValue(column, inBlock),
    ]);
    const tags = series?.tagKeys.map((key, i) => [key, series.tagValues[i]]);
    return { name: series?.name, tags, fields, time: batch.times[row] };
  });
}

/** The result of the general parser for the same body. */
function reference(text: string, precision: Precision): unknown[] {
  return parseLines(bytes(text), { precision, now: NOW }).points.map((point) => ({
    name: point.measurement,
    tags: point.tags.map((tag) => [...tag]),
    fields: point.fields.map((field) => [...field]),
    time: point.time,
  }));
}

describe('plain bodies', () => {
  test.each([
    ['floats, integers, booleans and texts', 'm,h=a f=1.5,i=3i,b=true,s="x y" 1700000000000000001'],
    ['tags in another order', 'm,b=2,a=1 v=1 1\nm,a=1,b=2 v=2 2'],
    ['no tags and no time', 'm v=1'],
    ['negative numbers', 'm a=-1,b=-0.25,c=-7i,d=-0 -5'],
    ['exponents and many digits', 'm a=1e3,b=1.25E-7,c=123456789012345678.5,d=.5 10'],
    ['the largest exact integer of fifteen digits', 'm a=999999999999999i,b=-999999999999999i 3'],
    ['other fields from line to line', 'm a=1 1\nm b=2i 2\nm a=3 3\nm a=4,b=5i 4\nm a=6i 5'],
    ['several measurements and blank lines', 'm a=1 1\n\nn,t=x a=1 2\n\n'],
    ['a text that repeats', 'm s="a" 1\nm s="b" 2\nm s="a" 3'],
    ['names outside ASCII', 'größe,ort=köln wärme=3.5 9'],
    [
      'names and values that begin with a byte order mark',
      '\uFEFFm,\uFEFFt=\uFEFFv \uFEFFs="\uFEFFx" 9',
    ],
    ['the edges of time', 'm a=1 9223372036854775806\nm a=1 0\nm a=1 1000000000000000000'],
  ])('%s', (_, text) => {
    const batch = new ColumnParser().parse(bytes(text), options);

    // These are not to be left to the general parser, with one exception that it does better.
    if (text.includes('9223372036854775806')) {
      expect(rows(new WriteParser().parse(bytes(text), options).batch)).toEqual(
        reference(text, 'ns'),
      );
      return;
    }
    expect(batch === undefined ? undefined : rows(batch)).toEqual(reference(text, 'ns'));
  });

  test('a broken line gives its error and keeps the others', () => {
    const { batch, errors } = new WriteParser().parse(bytes('m a=1 1\nm a= 2\nm a=3 3'), options);

    expect(batch.rowCount).toBe(2);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.lineNumber).toBe(2);
  });

  test('series of an abandoned write do not leak into the next', () => {
    const parser = new WriteParser();
    parser.parse(bytes('m a=1,s="x" 1\nm a=1,s="y'), options);

    const { batch } = parser.parse(bytes('m a=2,s="z" 5'), options);

    expect(rows(batch)).toEqual(reference('m a=2,s="z" 5', 'ns'));
  });
});

describe('many lines of few kinds', () => {
  const POOLS: Readonly<Record<string, readonly string[]>> = {
    float: [
      '1',
      '-1.5',
      '0.1',
      '123456789.123456',
      '-0',
      '.5',
      '1.',
      '99999999999999999999',
      '1e3',
    ],
    integer: ['1i', '-7i', '0i', '999999999999999999i', '9223372036854775807i', '5u'],
    boolean: [
      't',
      'T',
      'true',
      'True',
      'TRUE',
      'f',
      'F',
      'false',
      'False',
      'FALSE',
      'tru',
      'falsy',
    ],
    text: ['"x"', '""', '"a b,c=d"', '"ä"', '"q\\"q"', '"open'],
  };
  const KINDS = Object.keys(POOLS);
  // The first values of a pool are plain and come often, so that long runs are read at once.
  const cell = (kind: string): fc.Arbitrary<string> => {
    const pool = POOLS[kind] ?? [];
    return fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...pool.slice(0, 3)) },
      { weight: 1, arbitrary: fc.constantFrom(...pool) },
    );
  };
  const shape = fc.uniqueArray(
    fc.record({ name: fc.stringMatching(/^[a-z]{1,20}$/), kind: fc.constantFrom(...KINDS) }),
    { minLength: 1, maxLength: 5, selector: ({ name }) => name },
  );
  const body = fc
    .uniqueArray(shape, { minLength: 1, maxLength: 3, selector: (s) => s[0]?.name })
    .chain((shapes) => {
      const line = fc.constantFrom(...shapes).chain((fields) =>
        fc
          .record({
            series: fc.constantFrom('m', 'm,h=a', 'm,h=b', 'm,r=x,h=a', 'n,h=ab cd'),
            values: fc.tuple(...fields.map(({ kind }) => cell(kind))),
            time: fc.oneof(
              { weight: 8, arbitrary: fc.integer({ min: -5, max: 2_000_000_000 }).map(String) },
              { weight: 1, arbitrary: fc.constantFrom('', '9223372036854775807', '1x', '00001') },
            ),
          })
          .map(({ series, values, time }) => {
            const pairs = fields.map(({ name }, i) => `${name}=${values[i]}`);
            return `${series} ${pairs.join(',')}${time === '' ? '' : ` ${time}`}`;
          }),
      );
      return fc.array(line, { minLength: 1, maxLength: 60 });
    });

  test('mean the same as to the general parser', () => {
    const parser = new WriteParser();
    fc.assert(
      fc.property(
        body,
        fc.constantFrom<Precision>('ns', 's', 'h'),
        fc.constantFrom('\n', '\n\n'),
        (lines, precision, separator) => {
          const text = lines.join(separator);

          const { batch, errors } = parser.parse(bytes(text), { ...options, precision });

          expect(errors).toEqual(parseLines(bytes(text), { precision, now: NOW }).errors);
          const expected = reference(text, precision).map((row) => {
            const { fields, ...rest } = row as { fields: [string, unknown][] };
            return { ...rest, fields: fields.map(([k, v]) => [k, plain(v)]) };
          });
          expect(rows(batch)).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('are read whole when there are more than one run holds', () => {
    const lines = Array.from({ length: 150_000 }, (_, i) => `m,h=${i % 3000} v=${i},w=${i}i ${i}`);
    const parser = new ColumnParser();

    const batch = parser.parse(bytes(lines.join('\n')), options);

    expect(batch?.rowCount).toBe(150_000);
    expect(batch?.series).toHaveLength(3000);
    expect(batch?.times.every((time, i) => time === BigInt(i))).toBe(true);
    const [v, w] = batch?.blocks[0]?.columns ?? [];
    expect(v?.type === 'float' && v.values.every((value, i) => value === i)).toBe(true);
    expect(w?.type === 'integer' && w.values.every((value, i) => value === BigInt(i))).toBe(true);
    expect(batch?.seriesOfRow.every((index, i) => index === i % 3000)).toBe(true);
  });

  test('are not left to the general parser', () => {
    const text = Array.from(
      { length: 20 },
      (_, i) => `${i % 2 === 0 ? 'm a=1' : 'n b=t,s="x"'} ${i}`,
    );

    const batch = new ColumnParser().parse(bytes(text.join('\n')), options);

    expect(batch === undefined ? undefined : rows(batch)).toEqual(reference(text.join('\n'), 'ns'));
    expect(batch?.blocks).toHaveLength(2);
  });
});

function plain(value: unknown): unknown {
  const isUnsigned = typeof value === 'object' && value !== null && 'unsigned' in value;
  return isUnsigned ? BigInt.asIntN(64, (value as { unsigned: bigint }).unsigned) : value;
}

// The series that follows another is expected to follow it again: whatever the order, each line has
// its own.
test('series that come in ever other orders over many writes are those of their lines', () => {
  const key = fc.constantFrom('m', 'm,h=1', 'm,h=10', 'm,h=100', 'm,g=1,h=1', 'm1,h=1', 'mm');
  const write = fc.record({
    keys: fc.array(key, { minLength: 1, maxLength: 12 }),
    repeatCount: fc.integer({ min: 1, max: 4 }),
  });
  const parser = new ColumnParser();
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 5 }), (writes) => {
      for (const { keys, repeatCount } of writes) {
        const order = Array.from({ length: repeatCount }, () => keys).flat();
        const text = order.map((each, i) => `${each} v=${i} ${i}`).join('\n');

        const batch = parser.parse(bytes(text), options);

        expect(batch === undefined ? undefined : rows(batch)).toEqual(reference(text, 'ns'));
      }
    }),
  );
});

test('numbers of every length before and behind the point are the nearest doubles', () => {
  const texts: string[] = [];
  for (let before = 1; before <= 9; before++) {
    for (let behind = 0; behind <= 9; behind++) {
      const digits = '9081726354';
      const text = digits.slice(0, before) + (behind === 0 ? '' : `.${digits.slice(-behind)}`);
      texts.push(text, `-${text}`, `0${text}`, `${text}0`);
    }
  }
  texts.push('0.0', '-0.0', '00.50', '0.000001', '99999.9', '999999.9', '.5', '-.25');
  const text = texts.map((each, i) => `m v=${each} ${i}`).join('\n');

  const { batch, errors } = new WriteParser().parse(bytes(text), options);

  expect(errors).toEqual([]);
  const [column] = batch.blocks[0]!.columns;
  expect(Array.from(texts, (_, i) => columnValue(column!, i))).toEqual(texts.map(Number));
});
