// YAML of handler, task and target files.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRequest } from '@tidemark/core';
import { parseYaml, parseYamlScalars } from './yaml.ts';

describe('YAML', () => {
  test.each([
    [
      'scalars',
      "a: 1\nb: 1.5\nc: true\nd: ~\ne: text with spaces\nf: \"q\\n\\u0041\"\ng: 'it''s'",
      { a: 1, b: 1.5, c: true, d: null, e: 'text with spaces', f: 'q\nA', g: "it's" },
    ],
    [
      'a handler',
      'topic: cpu\nid: h1\nactions:\n  - kind: chat\n    options:\n      channel: "#ops"\n  - kind: log\n    options: {path: /tmp/a.log, mode: 384}\n',
      {
        topic: 'cpu',
        id: 'h1',
        actions: [
          { kind: 'chat', options: { channel: '#ops' } },
          { kind: 'log', options: { path: '/tmp/a.log', mode: 384 } },
        ],
      },
    ],
    ['a list as far left as its key', 'dbrps:\n- "telegraf"."autogen"\n- a.b\nx: 1', undefined],
    [
      'targets',
      '- targets: [a:1, "b:2"]\n  labels:\n    dc: eu # where\n- targets:\n    - c:3\n',
      [{ targets: ['a:1', 'b:2'], labels: { dc: 'eu' } }, { targets: ['c:3'] }],
    ],
    [
      'literal and folded text',
      'a: |\n  one\n\n  # two\nb: >-\n  x\n  y\nc: 1',
      { a: 'one\n\n# two\n', b: 'x y', c: 1 },
    ],
    ['comments and a first line of dashes', '---\n# all\na: b # c\n', { a: 'b' }],
    ['a URL', 'url: http://h:80/x\n', { url: 'http://h:80/x' }],
    [
      'a match expression',
      'match: level() >= WARNING AND "host" == \'a\'\n',
      { match: 'level() >= WARNING AND "host" == \'a\'' },
    ],
    ['nothing', '# only a comment\n', null],
    ['lists in lists', '- - 1\n  - 2\n- []\n', [[1, 2], []]],
  ])('%s', (_name, source, expected) => {
    if (expected === undefined) expect(() => parseYaml(source)).toThrow('yaml: line 2');
    else expect(parseYaml(source)).toEqual(expected);
  });

  test.each([
    ['a: 1\n  b: 2', 'line 1'],
    ['a: "x', 'line 1'],
    ['a: &x 1', 'line 1'],
    ['a: [1, 2', 'line 1'],
    ['a: 1\na: 2', 'line 2'],
    ['\ta: 1', 'line 1'],
    ['a: 1\nplain', 'line 2'],
    ['a: 1\nb: *x', 'line 2'],
    ['a: 1\nb: !x 1', 'line 2'],
    ['a: 1\n---\nb: 1', 'line 2'],
    ['a: 1\n? [b]\n: 1', 'yaml: line 1: a key must be a scalar'],
    [`a: 1\nb: ${'['.repeat(100)}${']'.repeat(100)}`, 'line 2: nested too deep'],
    ['['.repeat(100_000), 'yaml: line 1'],
  ])('%j is refused with its line', (source, text) => {
    expect(() => parseYaml(source)).toThrow(text);
  });

  test('any text is read or refused, never anything else', () => {
    const part = fc.constantFrom(
      'a',
      ':',
      ' ',
      '-',
      '\n',
      '  ',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ',',
      '#',
      '|',
      '>',
      '1',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        try {
          parseYaml(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequest);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('reads back JSON', () => {
    const character = fc.constantFrom('a', '"', '\\', '\n', '\t', '\b', ':', '#', ' ', 'ä');
    const text = fc.string({ unit: character });
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(text, tie('node'), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (each) => {
        expect(parseYaml(JSON.stringify(each))).toEqual(JSON.parse(JSON.stringify(each)));
      }),
    );
  });

  test('an integer of more digits than a number has keeps them; what is quoted stays a text', () => {
    expect(
      parseYaml(
        'a: 9007199254740993\nb: 9007199254740991\nc: [-9223372036854775808]\nd: "9007199254740993"\ne: 0x20000000000001',
      ),
    ).toEqual({
      a: 9_007_199_254_740_993n,
      b: 9_007_199_254_740_991,
      c: [-9_223_372_036_854_775_808n],
      d: '9007199254740993',
      e: 9_007_199_254_740_993n,
    });
  });
});

describe('scalars of a mapping', () => {
  test('keep whole integers; nested values and nulls are passed over', () => {
    const source =
      '---\n# c\na: 9007199254740993\nb: 1.5\n"c d": x # y\ne:\n  f: 1\ng: [1]\nh: ~\ni: true\n';

    expect(parseYamlScalars(source)).toEqual(
      new Map<string, unknown>([
        ['a', 9_007_199_254_740_993n],
        ['b', 1.5],
        ['c d', 'x'],
        ['i', true],
      ]),
    );
    expect(parseYamlScalars('')).toEqual(new Map());
  });

  test.each(['- 1', 'text', '1'])('%j is no mapping', (source) => {
    expect(() => parseYamlScalars(source)).toThrow('yaml: line 1: expected key: value');
  });
});
