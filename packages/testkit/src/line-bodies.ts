// Bodies of line protocol made of pieces that are mostly valid and sometimes nasty, for everything
// that reads lines.
import * as fc from 'fast-check';

const name = fc.constantFrom(
  'a',
  'b',
  'usage_user',
  'host',
  'ünï',
  'time',
  'x\\ y',
  'k\\=v',
  'q"t',
  'c\\,d',
);
const odd = fc.constantFrom(
  '',
  ' ',
  '  ',
  ',',
  '=',
  '\\',
  '"',
  '\n',
  '\r',
  '\t',
  '\0',
  '#',
  'é',
  '\\\\',
  '-',
);
const measurement = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('cpu', 'm', 'cpu\\ load', 'a\\,b', 'm\\=eq', 'ünï') },
  { weight: 1, arbitrary: odd },
);
const tagValue = fc.constantFrom('v', 'host_1', 'a\\ b', 'z\\=1', 'dbl\\\\sl', 'é', '1', '');
const tag = fc.tuple(name, tagValue).map(([k, v]) => `,${k}=${v}`);
/** Texts that are numbers, or nearly. */
export const lineNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map((n) => `${n}i`),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => String(n / 1000)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => `${n}i`),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => `${n}u`),
  fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.nat(19)).map(([n, places]) => {
    const digits = n.toString().padStart(places + 1, '0');
    return `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`;
  }),
  fc.constantFrom(
    '-0',
    '0',
    '-0i',
    '5.',
    '.5',
    '.',
    '-',
    '1e5',
    '1e400',
    '007',
    '1.2.3',
    '1i2',
    'NaN',
    '0.1',
  ),
  fc.constantFrom('9223372036854775807i', '9223372036854775808i', '123456789012345678901234567890'),
);
const value = fc.oneof(
  { weight: 4, arbitrary: lineNumber },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('x', ' ', ',', '=', '\n', '\\"', '\\\\', '\\n', 'é', '#'), {
        maxLength: 30,
      })
      .map((parts) => `"${parts.join('')}"`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      't',
      'T',
      'true',
      'True',
      'TRUE',
      'f',
      'false',
      'FALSE',
      'tRue',
      'x',
    ),
  },
  { weight: 1, arbitrary: odd },
);
const field = fc.tuple(name, value).map(([k, v]) => `${k}=${v}`);
const time = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .integer({ min: 0, max: 20 })
      .map((n) => ` ${1_600_000_000_000_000_000n + BigInt(n)}`),
  },
  {
    weight: 2,
    arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => ` ${n}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      ' 12 34',
      ' abc',
      ' -',
      ' 1600000000',
      ' 99999999999999999999',
      ' -5 ',
      '\t1',
    ),
  },
);
const line = fc
  .tuple(
    measurement,
    fc.array(tag, { maxLength: 4 }),
    fc.array(field, { minLength: 1, maxLength: 5 }),
    time,
  )
  .map(([m, tags, fields, t]) => `${m}${tags.join('')} ${fields.join(',')}${t}`);
const oddLine = fc
  .tuple(line, odd, fc.nat(80))
  .map(([l, o, at]) => l.slice(0, at) + o + l.slice(at + 1));
/** Lines of all kinds, broken ones among them. */
export const lineBody = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: line },
      { weight: 2, arbitrary: oddLine },
      {
        weight: 1,
        arbitrary: fc.constantFrom('', '# comment', '  # x', '   ', 'bad1', 'm f="open'),
      },
    ),
    { maxLength: 12 },
  )
  .chain((lines) => fc.constantFrom('\n', '\r\n').map((end) => lines.join(end)));

const kindOfValue = {
  i: fc
    .oneof(fc.integer({ min: -120, max: 120 }), fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }))
    .map((n) => `${n}i`),
  f: fc.oneof(
    fc.integer({ min: -99_999, max: 99_999 }).map((n) => String(n / 100)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  ),
  b: fc.constantFrom('t', 'true', 'F', 'FALSE'),
  s: fc.constantFrom('"plain"', '"a \\"quoted\\" one"', '""', '"back\\\\slash"', '"two\nlines"'),
};
const kinds = fc.constantFrom<(keyof typeof kindOfValue)[]>('i', 'i', 'f', 'b', 's');
const form = fc.record({
  section: fc.constantFrom(
    'cpu,host=a,region=eu',
    'cpu,host=b,region=eu',
    'cpu,host=c',
    'cpu,region=eu,host=a',
    'mem,host=a',
    'm\\,x,a\\ b=c\\ d',
    'm',
  ),
  fields: fc.array(fc.tuple(name, kinds), { minLength: 1, maxLength: 4 }),
});
const formLine = ({
  section,
  fields,
}: {
  section: string;
  fields: [string, 'i' | 'f' | 'b' | 's'][];
}) =>
  fc
    .tuple(fc.tuple(...fields.map(([, kind]) => kindOfValue[kind])), time)
    .map(
      ([values, t]) => `${section} ${fields.map(([k], i) => `${k}=${values[i]}`).join(',')}${t}`,
    );
/**
 * As clients send them: few forms of lines, repeated, with an occasional line of any other form.
 */
export const steadyLineBody = fc
  .array(form, { minLength: 1, maxLength: 3 })
  .chain((forms) =>
    fc.array(
      fc.tuple(
        fc.tuple(...forms.map(formLine)),
        fc.option(fc.oneof(line, oddLine, fc.constantFrom('', '# x', ' ')), { freq: 4 }),
      ),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map((rounds) =>
    rounds.flatMap(([lines, other]) => (other === null ? lines : [...lines, other])).join('\n'),
  );
