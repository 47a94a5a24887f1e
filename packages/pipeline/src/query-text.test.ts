// Diagnostics inside the text of |query() point into that text, wherever its characters are in the
// script.
import { describe, expect, test } from 'vitest';
import { buildPipeline } from './index.ts';
import { parseVars } from './vars-json.ts';

const dbrps = [{ database: 'd', retentionPolicy: 'r' }];

/** `|query(argument)` between a comment and its schedule, behind the declarations. */
function scriptOf(argument: string, declarations = ''): string {
  return `// ü is two bytes\n${declarations}batch\n  |query(${argument})\n    .period(1m)\n    .every(1m)\n`;
}

function findings(script: string, vars = {}) {
  const built = buildPipeline(script, { vars: parseVars(vars).vars ?? new Map() });
  expect(built.error).toBeUndefined();
  return built.checkStart?.({ dbrps }) ?? [];
}

/** The piece of the script that each finding is about. */
const pieces = (script: string, vars = {}): readonly string[] =>
  findings(script, vars).map(({ span }) => script.slice(span.start, span.end));

test('line, column and length are those of the word in the script', () => {
  const script = scriptOf('\'SELECT mean(v) FORM "d"."r".m\'');

  expect(findings(script)).toMatchObject([
    {
      code: 'TICK_QUERY_TEXT',
      message: 'failed to parse InfluxQL query: found FORM, expected FROM at line 1, char 16',
      line: 3,
      column: 26,
      span: { start: script.indexOf('FORM'), end: script.indexOf('FORM') + 4 },
      found: 'FORM',
      expected: ['FROM'],
      hint: 'did you mean FROM?',
    },
  ]);
});

describe('the piece at fault', () => {
  test.each([
    ['SELECT in single quotes', "'SELEKT v FROM m'", ['SELEKT']],
    [
      'behind escaped quotes',
      `'SELECT v FROM "d"."r".m WHERE a = \\'x\\' AMD b = \\'y\\''`,
      ['AMD'],
    ],
    ['an escaped text', `'SELECT v FROM "d"."r".m WHERE a = 1 \\'x\\''`, ["\\'x\\'"]],
    ['in three lines', `'''SELECT v\n  FROM "d"."r".m\n  WHERE a = 'x' AMD b'''`, ['AMD']],
    ['another database', `'SELECT v FROM "d"."r".m, "d".other.m, x'`, ['"d".other.m', 'x']],
    ['in a subquery', `'SELECT v FROM (SELECT v FROM "e"."r".m)'`, ['"e"."r".m']],
    ['no SELECT', "'SHOW DATABASES'", ['SHOW DATABASES']],
    ['two statements', `'SELECT v FROM "d"."r".m; SELECT w FROM n'`, ['SELECT w FROM n']],
    ['two faults', "'SELEKT 1; SELECT v FORM m'", ['SELEKT', 'FORM']],
    ['nothing', "''", ["''"]],
    ['nothing in three quotes', "''''''", ["''''''"]],
    ['an end that comes too early', "'SELECT v FROM'", ['']],
    ['a sum', `'SELECT v ' + 'FORM "d"."r".m'`, ['FORM']],
    ['a word in two literals', `'SELECT v FO' + 'RM "d"."r".m'`, ["FO' + 'RM"]],
    ['a text that a function makes', "'SELECT v ' + string(5)", ["query('SELECT v ' + string(5))"]],
  ])('%s', (_name, argument, expected) => {
    expect(pieces(scriptOf(argument))).toEqual(expected);
  });

  test('an end that comes too early is before the closing quote', () => {
    const script = scriptOf("'SELECT v FROM'");

    expect(findings(script)[0]?.span.start).toBe(script.indexOf("')"));
  });

  test('vars are followed to their literals', () => {
    const declarations = `var what = 'SELECT v '\nvar q = what + '''FORM "d"."r".m'''\n`;
    const script = scriptOf('q', declarations);

    expect(pieces(script)).toEqual(['FORM']);
    expect(findings(script)[0]).toMatchObject({ line: 3, column: 19 });
  });

  test('a var whose text the task gives is pointed at where it is used', () => {
    const script = scriptOf("'SELECT v ' + rest", "var rest = 'x'\n");
    const rest = { rest: { type: 'string', value: 'FORM m' } };

    expect(pieces(script, rest)).toEqual(['rest']);
    const whole = scriptOf('rest', "var rest = 'x'\n");
    expect(pieces(whole, rest)).toEqual(['query(rest)']);
  });

  test('sums of sums of empty texts stay small', () => {
    const sums = Array.from({ length: 40 }, (_, i) => `var v${i + 1} = v${i} + v${i}\n`).join('');

    expect(pieces(scriptOf("v40 + 'SELEKT'", `var v0 = ''\n${sums}`))).toEqual(['SELEKT']);
  });
});

test('places of texts are not part of the pipeline or of the vars', () => {
  const script = scriptOf('q + \' FROM "d"."r".m\'', "var q = 'SELECT v'\nvar l = ['a']\n");
  const { pipeline, vars } = buildPipeline(script);

  expect(pipeline?.nodes[1]?.calls?.arguments).toEqual([
    { kind: 'string', value: 'SELECT v FROM "d"."r".m' },
  ]);
  expect([...vars.values()].map(({ value }) => value)).toEqual([
    { kind: 'string', value: 'SELECT v' },
    { kind: 'list', items: [{ kind: 'string', value: 'a' }] },
  ]);
});
