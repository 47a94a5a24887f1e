// Mistakes that are found only when a task starts have a position too: the operand, property or
// node at fault, what was found, what was expected, and what to write instead. The oracle tests
// compare the messages themselves with the recorded ones.
import { expect, test } from 'vitest';
import { buildPipeline } from './index.ts';
import type { BuildOptions } from './index.ts';

const dbrps = [{ database: 'd', retentionPolicy: 'r' }];

/**
 * The piece of the script at fault, its class, what was found and expected, and the hint of every
 * finding.
 */
function findings(script: string, options: BuildOptions = {}) {
  const { error, checkStart } = buildPipeline(script, options);
  expect(error).toBeUndefined();
  const lines = script.split('\n');
  return checkStart?.({ dbrps }).map(({ code, span, line, column, found, expected, hint }) => {
    // Line and column say the same as the span, which is what editors use.
    expect(
      lines
        .slice(line - 1)
        .join('\n')
        .slice(column - 1),
    ).toBe(script.slice(span.start));
    return [script.slice(span.start, span.end), code, found, expected?.join(' '), hint];
  });
}

const STREAM = 'stream|from()';

const MISTAKES: readonly (readonly [string, readonly (readonly (string | undefined)[])[]])[] = [
  [
    `${STREAM}|where(lambda: "a" > 1 AND 'x' == 2)`,
    [['2', 'TICK_LAMBDA_TYPE', 'int', 'string', 'convert it: string(2)']],
  ],
  [
    `${STREAM}\n  |eval(lambda: "a", lambda: 'x' * 2)\n  .as('a', 'b')`,
    [["'x'", 'TICK_LAMBDA_TYPE', 'string', 'float int duration', "convert it: float('x')"]],
  ],
  [
    `var level = '90'\n${STREAM}|alert().crit(lambda: 2.5 > level).warn(lambda: 1 AND TRUE)`,
    [
      ['1', 'TICK_LAMBDA_TYPE', 'int', 'boolean', 'convert it: bool(1)'],
      ['level', 'TICK_LAMBDA_TYPE', 'string', 'int float', "convert it: float('90')"],
    ],
  ],
  [
    `var hot = lambda: "a" > 0 AND 5\n${STREAM}|where(hot)`,
    [['5', 'TICK_LAMBDA_TYPE', 'int', 'boolean', 'convert it: bool(5)']],
  ],
  [
    `${STREAM}|deadman(1.0, 10s, lambda: 7)`,
    [['7', 'TICK_LAMBDA_TYPE', 'int', 'boolean', 'convert it: bool(7)']],
  ],
  [
    `${STREAM}|window().every(1s)`,
    [
      [
        'window()',
        'TICK_START_RULE',
        undefined,
        undefined,
        'say how long a window is: .period(10s) or .periodCount(10)',
      ],
    ],
  ],
  [
    `var w = ${STREAM}|window().period(10s)\n${STREAM}|join(w).as('a', 'b')`,
    [
      [
        'join(w)',
        'TICK_MISMATCHED_EDGE',
        'batch',
        'stream',
        "make points of the batches before |join(), for example with |mean('field') or |last('field')",
      ],
    ],
  ],
  [
    `${STREAM}|alert()\n  .flapping(25.0, 50.0)`,
    [
      [
        'flapping(25.0, 50.0)',
        'TICK_START_RULE',
        undefined,
        '0.0 to 1.0',
        'write .flapping(0.25, 0.5) for 25 and 50 %',
      ],
    ],
  ],
  [
    `${STREAM}|alert().log('alerts.log').log('/alerts.log').mode(0400)`,
    [
      [
        "log('alerts.log')",
        'TICK_START_RULE',
        'alerts.log',
        'an absolute path',
        "write the whole path: .log('/var/log/alerts.log')",
      ],
      [
        'mode(0400)',
        'TICK_START_RULE',
        '-r--------',
        undefined,
        'write the permissions with a leading zero: .mode(0600)',
      ],
    ],
  ],
  [
    `${STREAM}|kapacitorLoopback().database('d').retentionPolicy('r')`,
    [
      [
        "database('d')",
        'TICK_START_RULE',
        '"d"."r"',
        undefined,
        'write to a database and policy that the task does not read',
      ],
    ],
  ],
  [
    "batch|query('SELECT mean(v) FROM m').period(1m)",
    [
      [
        "query('SELECT mean(v) FROM m')",
        'TICK_START_RULE',
        undefined,
        undefined,
        'say when to ask: .every(1m)',
      ],
      [
        'm',
        'TICK_QUERY_TEXT',
        'm',
        '"d"."r"',
        'name database and policy before the measurement: "database"."policy"."measurement"',
      ],
    ],
  ],
  [
    "batch|query('SELECT mean(v) FROM m').period(1m).every(1m)",
    [
      [
        'm',
        'TICK_QUERY_TEXT',
        'm',
        '"d"."r"',
        'name database and policy before the measurement: "database"."policy"."measurement"',
      ],
    ],
  ],
  [
    `${STREAM}|shift(0s)|sample(0)`,
    [
      [
        'shift(0s)',
        'TICK_START_RULE',
        '0s',
        'a duration',
        'write how far, |shift(5m) or |shift(-5m), or leave the node out',
      ],
      [
        'sample(0)',
        'TICK_START_RULE',
        '0',
        'int duration',
        'write |sample(10) for each tenth point, |sample(10s) for one every 10 s',
      ],
    ],
  ],
];

test.each(MISTAKES)('%j', (script, expected) => {
  expect(findings(script)).toEqual(expected);
});

test('a lambda that was given as a var is placed where the script declares the var', () => {
  const vars = new Map([
    ['hot', { type: 'lambda', value: { kind: 'lambda', text: '"a" > 0 AND 5' }, description: '' }],
  ] as const);

  expect(findings(`var hot lambda\n${STREAM}|where(hot)`, { vars })).toEqual([
    ['var hot lambda', 'TICK_LAMBDA_TYPE', 'int', 'boolean', 'convert it: bool(5)'],
  ]);
});

test('the columns of findings count bytes, their positions UTF-16 code units', () => {
  const { checkStart } = buildPipeline(`${STREAM}|where(lambda: "é𝄞" == 'x' AND 1)`);

  const [finding] = checkStart?.({ dbrps }) ?? [];
  expect(finding).toMatchObject({ line: 1, column: 49, span: { start: 45, end: 46 } });
});
