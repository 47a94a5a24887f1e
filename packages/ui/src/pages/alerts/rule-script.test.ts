// Scripts of rules: the parser accepts each, and they do what was chosen.
import { systemClock } from '@tidemark/core';
import { runTaskTests } from '@tidemark/engine/task-test';
import { buildPipeline } from '@tidemark/pipeline';
import { formatScript } from '@tidemark/tickscript';
import { describe, expect, test } from 'vitest';
import { CHANGES, EMPTY_RULE, FUNCTIONS, mistakesOf, OPERATORS, scriptOf } from './rule-script.ts';
import type { Rule } from './rule-script.ts';

const CPU: Rule = {
  ...EMPTY_RULE,
  name: 'cpu-high',
  database: 'd',
  policy: 'r',
  measurement: 'cpu',
  field: 'usage',
  groupBy: ['host'],
  warn: '80',
  crit: '90.5',
};

const rule = (changed: Partial<Rule>): Rule => ({ ...CPU, ...changed });

const everyKind: readonly (readonly [string, Rule])[] = [
  ...FUNCTIONS.map((name) => [`threshold of ${name}`, rule({ function: name })] as const),
  ...OPERATORS.map((operator) => [`values ${operator}`, rule({ operator })] as const),
  ...CHANGES.map((change) => [`change by ${change}`, rule({ kind: 'relative', change })] as const),
  ['deadman', rule({ kind: 'deadman' })],
  ['one level', rule({ warn: '', crit: '-1e-7' })],
  ['no groups', rule({ groupBy: [] })],
  [
    'names with quotes and blanks',
    rule({
      measurement: 'it\'s 5" high',
      field: 'a "b" c',
      groupBy: ['my tag', "o'clock"],
      whereTag: 'x "y"',
      whereValue: "a'b",
    }),
  ],
];

test.each(everyKind)('%s is a script that the parser takes as it is', (_name, given) => {
  const script = scriptOf(given);
  const { diagnostics, pipeline, warnings } = buildPipeline(script);

  expect(diagnostics, script).toEqual([]);
  expect(warnings?.() ?? [], script).toEqual([]);
  expect(pipeline?.nodes.length).toBeGreaterThan(3);
  expect(formatScript(script)).toBe(script);
});

/** Events of a rule as `id level` lines, and what its task wrote as errors. */
async function eventsOf(
  given: Rule,
  lines: readonly string[],
  advance = '',
): Promise<readonly string[]> {
  const test = [
    'clock 2026-01-01T00:00:00Z',
    'dbrp d.r',
    'script',
    ...scriptOf(given)
      .split('\n')
      .map((line) => `    ${line}`.trimEnd()),
    'write d.r',
    ...lines.map((line) => `    ${line}`),
    ...(advance === '' ? [] : [`advance ${advance}`]),
    'events',
  ].join('\n');
  const results = await runTaskTests(test, {
    clock: systemClock(),
    readScript: () => {
      throw new Error('the script stands in the text');
    },
  });
  const failures = results.flatMap((result) => result.failures);
  expect(failures.filter(({ actual }) => actual.length === 0)).toEqual([]);
  return failures
    .flatMap(({ actual }) => actual)
    .map((line) => line.split(' | ').slice(1, 3).join(' | '));
}

const at = (minutes: number, values: string, tags = 'host=a'): string =>
  `cpu,${tags} ${values} ${1_767_225_600 + minutes * 60}`;

describe('what was chosen happens', () => {
  test('a threshold looks at every point, of integers too', async () => {
    const given = rule({ function: 'none' });
    const lines = [at(0, 'usage=50i'), at(1, 'usage=95i'), at(2, 'usage=85i'), at(3, 'usage=1i')];

    expect(await eventsOf(given, lines)).toEqual([
      'cpu-high host=a | CRITICAL',
      'cpu-high host=a | WARNING',
      'cpu-high host=a | OK',
    ]);
  });

  test('a threshold of windows, by group, of some points only', async () => {
    const given = rule({ whereTag: 'cpu', whereValue: 'total', period: '2m', every: '2m' });
    const lines = [
      at(0, 'usage=99', 'cpu=total,host=a'),
      at(0, 'usage=10', 'cpu=total,host=b'),
      at(0, 'usage=99', 'cpu=0,host=b'),
      at(1, 'usage=97', 'cpu=total,host=a'),
      at(3, 'usage=1', 'cpu=total,host=a'),
      at(3, 'usage=1', 'cpu=total,host=b'),
    ];

    expect(await eventsOf(given, lines)).toEqual(['cpu-high host=a | CRITICAL']);
  });

  test.each([
    ['percent', '50', ['cpu-high host=a | CRITICAL']],
    ['percent', '250', []],
    ['difference', '15', ['cpu-high host=a | CRITICAL']],
    ['difference', '25', []],
  ] as const)('a change by %s beyond %s', async (change, crit, events) => {
    const given = rule({
      kind: 'relative',
      change,
      warn: '',
      crit,
      period: '1m',
      every: '1m',
      shift: '2m',
    });
    const lines = [0, 1, 2, 3, 4].map((i) => at(i, `usage=${i < 2 ? 10 : 30}`));

    expect(await eventsOf(given, lines)).toEqual(events);
  });

  test('silence', async () => {
    const given = rule({ kind: 'deadman', silence: '2m' });
    const lines = [0, 1, 2].map((i) => at(i, 'usage=1'));

    expect(await eventsOf(given, lines)).toEqual([]);
    expect(await eventsOf(given, lines, '5m')).toEqual(['cpu-high host=a | CRITICAL']);
  });
});

test.each<readonly [string, Partial<Rule>, readonly string[]]>([
  ['nothing', {}, []],
  ['a name with a blank', { name: 'too hot' }, ['name']],
  ['no level', { warn: '', crit: '' }, ['crit']],
  ['a level that is no number', { warn: 'high' }, ['warn']],
  ['a warning alone', { warn: '5', crit: '' }, []],
  ['a duration without a unit', { period: '5' }, ['period']],
  ['a period where every point counts', { function: 'none', period: '' }, []],
  ['no field for a deadman', { kind: 'deadman', field: '' }, []],
  ['no measurement', { kind: 'deadman', measurement: '' }, ['measurement']],
])('%s is told', (_name, changed, fields) => {
  expect([...mistakesOf(rule(changed))]).toEqual(fields);
});
