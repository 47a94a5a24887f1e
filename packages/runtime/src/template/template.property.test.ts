// Fuzzing of templates: any text is either parsed, and then runs to its end, or refused with the
// position of the mistake.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JSON_FUNCTIONS } from './functions.ts';
import { TemplateSyntaxError } from './lex.ts';
import { Template, TemplateExecutionError } from './template.ts';
import { TemplateDuration, TemplateMap, TemplateStruct, TemplateTime } from './value.ts';
import type { TemplateValue } from './value.ts';

const DATA = new TemplateStruct('alert.EventData', {
  ID: 'id <b> "\ud800',
  Level: 'CRITICAL',
  Name: '',
  Time: new TemplateTime(1_704_067_200_123_456_789n),
  Duration: new TemplateDuration(-1_500_000_000n),
  Tags: new TemplateMap([['host', 'a&b']], ''),
  Fields: new TemplateMap(
    [
      ['value', 0.0001],
      ['nan', Number.NaN],
      ['big', -9_223_372_036_854_775_808n],
      ['ok', true],
      ['none', undefined],
    ],
    undefined,
  ),
  List: [1n, 2n, 'x', [null]],
});

const OPERANDS = [
  '.',
  'nil',
  'true',
  '$',
  '.ID',
  '.Time',
  '.Duration',
  '.Tags.host',
  '.Fields.nan',
  '.Fields.big',
  '.Fields.none',
  '.List',
  '.Time.Unix',
  '.Time.Format "Jan _2 15:04:05.000"',
  '.Duration.Seconds',
  '.Absent',
  '$x',
  '0',
  '-1',
  '0x7f',
  '1.5e3',
  '1e999',
  '99999999999999999999',
  "'c'",
  '`raw`',
  '"\\ud800%999999999.999999999f%c%g%v%"',
  '"host"',
  '"%.100g"',
];
const FUNCTIONS =
  'and or not eq ne lt le gt ge index len slice print println printf html js urlquery call json jsonCompact absent';
/** One field of a format with an operand of any kind. */
const printed = fc
  .tuple(
    fc.constantFrom('', '+', '-0', ' #', '0'),
    fc.constantFrom(
      '',
      '.',
      '8',
      '8.3',
      '*',
      '[1]',
      '.*',
      '.100',
      '1000000',
      '99999999999',
      '.9999999',
    ),
    fc.constantFrom(...'vsqtTdboxXceEfFgGz%'),
    fc.constantFrom(...OPERANDS, '1114112', '55296'),
  )
  .map(([flags, size, verb, operand]) => `(printf "%${flags}${size}${verb}" ${operand})`);
const TRIMS = ['{{', '{{- '];

/** Texts that look like templates: mostly well-formed, with every kind of node. */
const template: fc.Arbitrary<string> = fc.letrec<{ expression: string; body: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...OPERANDS),
    printed,
    fc
      .tuple(
        fc.constantFrom(...FUNCTIONS.split(' ')),
        fc.array(
          fc.oneof(
            fc.constantFrom(...OPERANDS),
            tie('expression').map((inner) => `(${inner})`),
          ),
          { maxLength: 4 },
        ),
      )
      .map(([name, args]) => [name, ...args].join(' ')),
    fc.tuple(tie('expression'), tie('expression')).map((both) => both.join(' | ')),
    tie('expression').map((inner) => `(${inner}).Unix`),
  ),
  body: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('text', ' <a href="', '">', '<script>', '<!--', ' \n ', '{{/* c */}}', '{'),
    tie('expression').map((it) => `{{${it}}}`),
    fc
      .tuple(fc.constantFrom(...TRIMS), fc.constantFrom(':=', '='), tie('expression'))
      .map(([open, operator, it]) => `${open}$x ${operator} ${it}}}`),
    fc
      .tuple(fc.constantFrom('if', 'with', 'range', 'range $x, $y :='), tie('expression'))
      .chain(([head, it]) =>
        fc
          .tuple(tie('body'), tie('body'), fc.constantFrom('{{else}}', '{{else if .ID}}', ''))
          .map(([a, b, otherwise]) => `{{${head} ${it}}}${a}${otherwise}${b}{{end}}`),
      ),
    fc.constantFrom(
      '{{break}}',
      '{{continue}}',
      '{{end}}',
      '{{template "x"}}',
      '{{define "x"}}',
      '{{block "x" .}}',
      '{{',
    ),
    fc.array(tie('body'), { maxLength: 4 }).map((parts) => parts.join('')),
  ),
})).body;

/** A text with some of its characters dropped, doubled or replaced. */
const damaged = fc
  .tuple(template, fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 3 })), { maxLength: 4 }))
  .map(([text, changes]) =>
    changes.reduce((now, [at, put]) => {
      const i = at % (now.length + 1);
      return now.slice(0, i) + put + now.slice(i + (at % 3));
    }, text),
  );

const text = fc.oneof(
  { weight: 4, arbitrary: template },
  { weight: 4, arbitrary: damaged },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }).map((inner) => `{{${inner}}}`) },
);

/** The output, or the reason why there is none. Everything else that is thrown fails the test. */
function run(source: string, isHtml = false, data: TemplateValue = DATA): string {
  try {
    return new Template('t', source, { functions: JSON_FUNCTIONS, isHtml }).execute(data);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) expect(error.message).toMatch(/^template: t:\d+: ./s);
    else if (error instanceof TemplateExecutionError)
      expect(error.message).toMatch(/^template: t(?::\d+:\d+: executing "t" at <.*>)?: ./s);
    else throw error;
    return error.message;
  }
}

describe('any text', () => {
  test('is read or refused with its line, and fails while it runs with its place only', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (source, isHtml) => {
        run(source, isHtml);
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 3000) },
    );
  });

  test('gives the same output each time it runs', () => {
    fc.assert(
      fc.property(text, (source) => {
        expect(run(source)).toBe(run(source));
      }),
      { numRuns: 300 },
    );
  });

  test('without actions is its own output', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (source) => {
        fc.pre(!source.includes('{{'));
        expect(run(source)).toBe(source);
      }),
      { numRuns: 300 },
    );
  });

  test('in HTML never lets a value open a tag', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(run('<p>{{.}}</p>', true, value)).not.toMatch(/^<p>.*[<>].*<\/p>$/s);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the cost of a template is bounded', () => {
  const items = Array.from({ length: 100 }, (_, i) => BigInt(i));
  const repeated = (part: string, count: number, inner = ''): string =>
    part.repeat(count) + inner + '{{end}}'.repeat(count);

  test.each([
    ['loops inside loops', repeated('{{range $.List}}', 20), 'takes too long'],
    [
      'a text that doubles',
      '{{$x := "0123456789"}}{{range .List}}{{$x = print $x $x}}{{end}}',
      'text is too long',
    ],
    [
      'output in loops',
      repeated('{{range $.List}}', 5, 'some text of the template'),
      'output is too long',
    ],
    ['blocks that are too deep', repeated('{{if true}}', 1000), 'nested too deeply'],
    [
      'parentheses that are too deep',
      `{{${'('.repeat(1000)}1${')'.repeat(1000)}}}`,
      'nested too deeply',
    ],
    ['calls of too many operands', `{{print${' 1'.repeat(200_000)}}}`, 'too many operands'],
    ['long numbers', `{{${'9'.repeat(500_000)}}}`, 'illegal number syntax'],
    ['long texts', ' '.repeat(2_000_000), 'template is too long'],
  ])('%s are refused', (_what, source, reason) => {
    expect(run(source, false, new TemplateStruct('d', { List: items }))).toContain(reason);
  });

  test.each([
    ['blanks before a trimmed action', `${' '.repeat(500_000)}x{{- "" -}}${' '.repeat(500_000)}`],
    ['a long word inside a tag', `<a ${'b'.repeat(500_000)}{{"" }}>`],
    ['many words inside a tag', `<a ${'b '.repeat(250_000)}{{""}}>`],
    ['flags without a verb', `{{printf "%${'0'.repeat(500_000)}"}}`],
    ['many actions', '{{1}}'.repeat(100_000)],
  ])('%s take linear time', (_what, source) => {
    // Quadratic time would be minutes, beyond the limit of a test.
    expect(run(source, true)).not.toContain('template: t');
  });

  test('fields that are too wide say so', () => {
    expect(run('{{printf "%99999999d|%.99999999f" 1 1.5}}')).toBe('%!d(BADWIDTH)|%!f(BADPREC)');
    expect(run(`{{printf "${'%1000000d'.repeat(50)}"${' 1'.repeat(50)}}}`)).toContain('BADWIDTH');
  });
});
