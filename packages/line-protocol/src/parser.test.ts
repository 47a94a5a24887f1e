import { describe, expect, test } from 'vitest';

import { lineErrorMessage, parseLines, parsePrecision } from './index.ts';
import type { Precision } from '@tidemark/core';

const NOW = 1_700_000_000_123_456_789n;

function parse(text: string, precision: Precision = 'ns', allowUnsigned = false) {
  return parseLines(new TextEncoder().encode(text), { precision, now: NOW, allowUnsigned });
}

function fieldsOf(text: string) {
  const { points, errors } = parse(text);
  expect(errors).toEqual([]);
  return Object.fromEntries(points[0]!.fields);
}

function reasonOf(text: string, precision: Precision = 'ns'): string {
  const { points, errors } = parse(text, precision);
  expect(points).toEqual([]);
  expect(errors).toHaveLength(1);
  expect(lineErrorMessage(errors[0]!)).toBe(
    `unable to parse '${errors[0]!.text}': ${errors[0]!.reason}`,
  );
  return errors[0]!.reason;
}

describe('values', () => {
  test('reads every spelling of numbers, booleans and strings', () => {
    expect(
      fieldsOf(
        'm a=1,b=-1i,c=1.5,d=.5,e=5.,f=1e3,g=-1.5E-3,h=1E+2,i=t,j=T,k=true,l=True,m=TRUE,n=f,o=FALSE,' +
          'p="",q="a b",r="say \\"hi\\"",s="back\\\\slash",t="a\\nb",u="line1\nline2",v="x,y=z w",w=007i,x=-0i',
      ),
    ).toEqual({
      a: 1,
      b: -1n,
      c: 1.5,
      d: 0.5,
      e: 5,
      f: 1000,
      g: -0.0015,
      h: 100,
      i: true,
      j: true,
      k: true,
      l: true,
      m: true,
      n: false,
      o: false,
      p: '',
      q: 'a b',
      r: 'say "hi"',
      s: 'back\\slash',
      t: 'a\\nb',
      u: 'line1\nline2',
      v: 'x,y=z w',
      w: 7n,
      x: 0n,
    });
  });

  test('keeps all digits of 64-bit integers and rounds floats correctly', () => {
    expect(
      fieldsOf(
        'm a=9223372036854775807i,b=-9223372036854775808i,c=1.7976931348623157e308,d=5e-324,e=1e-400,' +
          'f=0.1234567890123456789,g=123456789012345678901234567890,h=-0',
      ),
    ).toEqual({
      a: 9223372036854775807n,
      b: -9223372036854775808n,
      c: Number.MAX_VALUE,
      d: 5e-324,
      e: 0,
      f: Number('0.1234567890123456789'),
      g: Number('123456789012345678901234567890'),
      h: -0,
    });
  });

  test('takes unsigned integers only when they are switched on', () => {
    expect(reasonOf('m f=1u')).toBe('invalid number');
    const { points } = parse('m f=18446744073709551615u', 'ns', true);
    expect(points[0]!.fields).toEqual([['f', { unsigned: 18446744073709551615n }]]);
    expect(parse('m f=18446744073709551616u', 'ns', true).errors[0]!.reason).toBe(
      'unable to parse unsigned 18446744073709551616: strconv.ParseUint: parsing "18446744073709551616": value out of range',
    );
    expect(parse('m f=-1u', 'ns', true).errors[0]!.reason).toBe('invalid number');
  });
});

describe('names', () => {
  test('removes escapes by position', () => {
    const { points } = parse('my\\ mea\\,sure,tag\\ k\\=ey\\,x=va\\ l\\,u\\=e fi\\ e\\,l\\=d=1 5');
    expect(points[0]).toMatchObject({
      measurement: 'my mea,sure',
      tags: [['tag k=ey,x', 'va l,u=e']],
      fields: [['fi e,l=d', 1]],
      time: 5n,
    });
  });

  test('keeps other backslashes and quotes outside of values as data', () => {
    const { points, errors } = parse(
      'back\\slash,t=dbl\\\\sl,u="qv" "f"=1\nm\\=eq=raw f=1\n"quoted" f=1\n',
    );
    expect(errors).toEqual([]);
    expect(points.map((p) => [p.measurement, p.tags, p.fields[0]![0]])).toEqual([
      [
        'back\\slash',
        [
          ['t', 'dbl\\\\sl'],
          ['u', '"qv"'],
        ],
        '"f"',
      ],
      ['m=eq=raw', [], 'f'],
      ['"quoted"', [], 'f'],
    ]);
  });

  test('sorts tags and gives one series to any order of them', () => {
    const { points } = parse('m,b=2,a=1 f=1\nm,a=1,b=2 f=1');
    expect(points.map((p) => p.series.key)).toEqual(['m,a=1,b=2', 'm,a=1,b=2']);
  });

  test('shares one series object among equal texts', () => {
    const { points } = parse('m,a=1 f=1\nm,a=2 f=1\nm,a=1 f=2');
    expect(points[2]!.series).toBe(points[0]!.series);
    expect(points[1]!.series).not.toBe(points[0]!.series);
  });
});

describe('lines', () => {
  test('skips blank lines, comments and leading blanks', () => {
    const { points, errors } = parse('# a ="\n \tm f=1 1\n  # x\n\n   \nm f=2 2  \n');
    expect(errors).toEqual([]);
    expect(points.map((p) => [p.lineNumber, p.time])).toEqual([
      [2, 1n],
      [6, 2n],
    ]);
  });

  test('numbers physical lines across strings with newlines and knows where each line lies', () => {
    const text = 'm s="a\nb\nc" 1\nbad\nm f=1 2';
    const { points, errors } = parse(text);
    expect(points.map((p) => [p.lineNumber, text.slice(p.start, p.end)])).toEqual([
      [1, 'm s="a\nb\nc" 1'],
      [5, 'm f=1 2'],
    ]);
    expect(errors).toEqual([{ lineNumber: 4, text: 'bad', reason: 'missing fields' }]);
  });

  test('goes on after a bad line and reports all of them in order', () => {
    const { points, errors } = parse('bad\nalso,bad\nm f=1 1\nm f=x 1');
    expect(points).toHaveLength(1);
    expect(errors.map(lineErrorMessage)).toEqual([
      "unable to parse 'bad': missing fields",
      "unable to parse 'also,bad': missing tag value",
      "unable to parse 'm f=x 1': invalid boolean",
    ]);
  });

  test.each([
    ['s="b "c""', 'b "c"'],
    ['s="b "c"" 5', 'b "c"'],
    ['s="b ,"c" d",f=1', 'b ,"c" d'],
    ['s="x""y"', 'x""y'],
    ['s=""""', '""'],
    ['s="it"s",t="a"b"', 'it"s",t="a"b'],
    ['s="a\\"b "c"" 5', 'a"b "c"'],
  ])('takes pairs of quotes within a text: %s', (fields, text) => {
    const { points, errors } = parse(`m ${fields}\nm s="next" 7`);

    expect(errors).toEqual([]);
    expect(points.map((point) => point.fields[0])).toEqual([
      ['s', text],
      ['s', 'next'],
    ]);
  });

  test.each([
    ['s="a"b', 'invalid field format'],
    ['s="a"b,f=1', 'invalid field format'],
    ['s="b "c"d', 'unbalanced quotes'],
    ['s="b "c""d', 'invalid field format'],
    ['s="a"b="c" 1', 'invalid field format'],
    ['s="a"b"', 'unbalanced quotes'],
    ['s="a" b"', 'bad timestamp'],
    ['s="""', 'unbalanced quotes'],
  ])(
    'refuses what stands behind the last quote of a text, and half a pair: %s',
    (fields, reason) => {
      expect(reasonOf(`m ${fields}`)).toBe(reason);
    },
  );

  test('refuses carriage returns wherever they end a line', () => {
    expect(reasonOf('m f=1\r\n')).toBe('invalid number');
    expect(reasonOf('m f=1i\r\n')).toBe('invalid number');
    expect(reasonOf('m f=t\r\n')).toBe('invalid boolean');
    expect(reasonOf('m f="x"\r\n')).toBe('invalid field format');
    expect(reasonOf('m f=1 1609459200000000000\r\n')).toBe('bad timestamp');
  });
});

describe('time', () => {
  test.each([
    ['ns', 1n, NOW],
    ['u', 1_000n, NOW - (NOW % 1_000n)],
    ['ms', 1_000_000n, NOW - (NOW % 1_000_000n)],
    ['s', 1_000_000_000n, NOW - (NOW % 1_000_000_000n)],
    ['m', 60_000_000_000n, NOW - (NOW % 60_000_000_000n)],
    ['h', 3_600_000_000_000n, NOW - (NOW % 3_600_000_000_000n)],
  ] as const)('scales and truncates by %s', (precision, scaled, now) => {
    const { points } = parse('m f=1 1\nm f=1', precision);
    expect(points.map((p) => p.time)).toEqual([scaled, now]);
  });

  test('accepts both ends of the range and nothing beyond', () => {
    const range = 'time outside range -9223372036854775806 - 9223372036854775806';
    const { points } = parse('m f=1 -9223372036854775806\nm f=1 9223372036854775806\nm f=1 00012');
    expect(points.map((p) => p.time)).toEqual([-9223372036854775806n, 9223372036854775806n, 12n]);
    expect(reasonOf('m f=1 9223372036854775807')).toBe(range);
    expect(reasonOf('m f=1 -9223372036854775807')).toBe(range);
    expect(reasonOf('m f=1 9223372037', 's')).toBe(range);
    expect(reasonOf('m f=1 2562048', 'h')).toBe(range);
    expect(reasonOf('m f=1 9223372036854775808')).toBe(
      'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    );
    expect(reasonOf('\rm f=1')).toBe('carriage return at the start of the line');
    expect(reasonOf('m f=1 -')).toBe('strconv.ParseInt: parsing "-": invalid syntax');
  });

  test('reads the names of precisions', () => {
    expect(['', 'n', 'ns', 'u', 'ms', 's', 'm', 'h', 'd', 'us'].map(parsePrecision)).toEqual([
      'ns',
      'ns',
      'ns',
      'u',
      'ms',
      's',
      'm',
      'h',
      undefined,
      undefined,
    ]);
  });
});

describe('mistakes', () => {
  test.each([
    [',t=v f=1', 'missing measurement'],
    ['m', 'missing fields'],
    ['m,t=v', 'missing fields'],
    ['{"json":true}', 'missing fields'],
    ['m,', 'missing tag key'],
    ['m,=v f=1', 'missing tag key'],
    ['m,,t=v f=1', 'missing tag key'],
    ['m,t=v, f=1', 'missing tag key'],
    ['m,t=v,=x f=1', 'missing tag key'],
    ['m, t=1 f=1', 'missing tag key'],
    ['m,t', 'missing tag value'],
    ['m,t=', 'missing tag value'],
    ['m,t= f=1', 'missing tag value'],
    ['also,bad', 'missing tag value'],
    ['m,t=a=b f=1', 'invalid tag format'],
    ['m,t=a,t=b f=1', 'duplicate tags'],
    ['m,t=a,u=1,t=a f=1', 'duplicate tags'],
    ['m ', 'invalid field format'],
    ['m,t=v ', 'invalid field format'],
    ['m f', 'invalid field format'],
    ['m f=1,', 'invalid field format'],
    ['m f=1,g', 'invalid field format'],
    ['m f=1,,g=2', 'invalid field format'],
    ['m f = 1', 'invalid field format'],
    ['m ,t=1 f=1', 'invalid field format'],
    ['m f=1, g=2', 'invalid field format'],
    ['m f="a"b', 'invalid field format'],
    ['bad line here', 'invalid field format'],
    ['m f=1,,g=abc', 'invalid boolean'],
    ['m =1', 'missing field key'],
    ['m f=1,=2', 'missing field key'],
    ['m f=', 'missing field value'],
    ['m f=,g=2', 'missing field value'],
    ['m f=abc', 'invalid boolean'],
    ['m f=tRue', 'invalid boolean'],
    ['m f=+1', 'invalid boolean'],
    ['m f=Inf', 'invalid boolean'],
    ['m f=i', 'invalid boolean'],
    ["m f='abc'", 'invalid boolean'],
    ['m f=abc"', 'invalid boolean'],
    ['m f=1.2.3', 'invalid number'],
    ['m f=1.5i', 'invalid number'],
    ['m f=1e3i', 'invalid number'],
    ['m f=-', 'invalid number'],
    ['m f=-i', 'invalid number'],
    ['m f=.', 'invalid number'],
    ['m f=1a', 'invalid number'],
    ['m f=1i2', 'invalid number'],
    ['m f=1ii', 'invalid number'],
    ['m f=0x10', 'invalid number'],
    ['m f=NaN', 'invalid number'],
    ['m f=-Inf', 'invalid number'],
    ['m f=1e', 'invalid float'],
    ['m f=1e400', 'invalid float'],
    ['m f="abc', 'unbalanced quotes'],
    ['m f=1 abc', 'bad timestamp'],
    ['m f=1 1.5', 'bad timestamp'],
    ['m f=1 +1', 'bad timestamp'],
    ['m,t=v t=1 f=1', 'bad timestamp'],
    ['m f=1 12 34', 'point is invalid'],
  ])('%s → %s', (line, reason) => {
    expect(reasonOf(line)).toBe(reason);
  });

  test('names the integer that does not fit', () => {
    expect(reasonOf('m f=9223372036854775808i')).toBe(
      'unable to parse integer 9223372036854775808: strconv.ParseInt: parsing "9223372036854775808": value out of range',
    );
  });

  test('bounds the series key alone and with each field key', () => {
    expect(reasonOf(`${'k'.repeat(65_536)} f=1`)).toBe('max key length exceeded: 65536 > 65535');
    expect(reasonOf(`${'k'.repeat(65_531)} f=1`)).toBe('max key length exceeded: 65536 > 65535');
    expect(parse(`${'k'.repeat(65_530)} f=1`).points).toHaveLength(1);
  });
});
