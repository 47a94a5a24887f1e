// Typical mistakes: each has a position, what was found, what was expected, and what to write
// instead. The oracle tests compare the messages themselves with the recorded ones.
import { expect, test } from 'vitest';
import { buildPipeline } from './index.ts';

/** Place, found, expected, hint of every finding. */
type Findings = readonly (readonly [string, string, string, string])[];

/** Where any expression may begin. */
const OPERAND_KINDS = 4;

const NAMES_HINT = 'names of fields and tags stand in double quotes, texts in single quotes';

const MISTAKES: readonly (readonly [script: string, findings: Findings])[] = [
  ['stream|frm()', [['1:8', '|frm', '', 'did you mean from?']]],
  [
    "stream|from().measurement('m')\n httpOut('x')",
    [['2:2', 'httpOut()', '', 'write |httpOut() or .httpOut() to go on with the node above']],
  ],
  [
    "stream|from()\nmeasurement('m')\nnofunc(1)",
    [
      [
        '2:1',
        'measurement()',
        '',
        'write |measurement() or .measurement() to go on with the node above',
      ],
      ['3:1', 'nofunc()', '', 'a statement is a chain, like stream|from(), or var name = value'],
    ],
  ],
  [
    'stream|from().where(lambda: -TRUE)',
    [['1:30', 'boolean', 'int float duration', 'convert it: float(TRUE)']],
  ],
  [
    "stream|from()|eval(lambda: 1 + -'a').as('x')",
    [['1:33', 'string', 'int float duration', "convert it: float('a')"]],
  ],
  [
    'stream|from()|where(lambda: !5 OR -"time" > 0)',
    [['1:30', 'int', 'boolean', 'convert it: bool(5)']],
  ],
  [
    'stream|from()|where(lambda: -"time" > 0)',
    [
      [
        '1:30',
        'time',
        'int float duration',
        'times have no operators; take unixNano("time"), hour("time") and the like',
      ],
    ],
  ],
  ['stream|from()|alert().info', [['1:22', '', '', 'write .info(info lambda)']]],
  [
    'stream|from()|window().periodCount(-1).everyCount(1)',
    [['1:24', '', '', 'write how many points a window has: .periodCount(10)']],
  ],
  ['var b = stream', [['1:1', '', '', 'begin with stream|from()']]],
  ['var b = batch\nvar a = 1h', [['1:1', '', '', 'begin with batch|query()']]],
  ["stream|from().mesurement('cpu')", [['1:15', '.mesurement', '', 'did you mean measurement?']]],
  [
    'stream|from().measurement(5)',
    [['1:15', 'int', 'string', "strings are written in single quotes: 'text'"]],
  ],
  [
    'stream|from().measurement("cpu")',
    [['1:15', 'reference', 'string', "strings are written in single quotes: 'text'"]],
  ],
  [
    "stream|from().measurement('cpu'",
    [['1:32', 'EOF', ')', 'a closing parenthesis, a comma or an operator is missing']],
  ],
  [
    "stream|from().measurement('cpu)",
    [['1:27', 'unterminated string', 'an operand', 'add the closing quote']],
  ],
  ['stream|from().where(lambda: "a" = 5)', [['1:33', '=', ')', 'write == to compare']]],
  ['stream|from().where(lambda: "a" === 5)', [['1:35', '=', 'an operand', 'write == to compare']]],
  [
    'stream|from().where(lambda: a == 5)',
    [
      [
        '1:29',
        'a',
        'stream time',
        'names of fields and tags stand in double quotes, texts in single quotes',
      ],
    ],
  ],
  ['stream|from().where("a" == 5)', [['1:21', '', '', 'write lambda: before the expression']]],
  [
    'stream|from().where(lambda: "a" == 5 && "b" == 2)',
    [['1:38', "unknown state, last char: '&'", ')', 'write AND for a logical and']],
  ],
  [
    'stream|from().where(lambda: "a" == 5 & "b" == 2)',
    [['1:38', "unknown state, last char: '&'", ')', 'write AND for a logical and']],
  ],
  [
    'stream|from().where(lambda: "a" == 5 and "b" == 2)',
    [['1:38', 'identifier', ')', 'write AND and OR in capital letters']],
  ],
  [
    'stream|from()|window().period(10)',
    [['1:24', 'int', 'duration', 'write a duration with its unit, 10s']],
  ],
  [
    "stream|from()|window().period('10s')",
    [['1:24', 'string', 'duration', 'write the duration without quotes, 10s']],
  ],
  [
    'stream|from()|window().period(10sec)',
    [['1:34', 'identifier', ')', 'units of durations are u, ms, s, m, h, d and w']],
  ],
  [
    'stream|from()|window().period(1h30m)',
    [['1:33', 'duration', ')', 'write a duration with a single unit, 90m instead of 1h30m']],
  ],
  ['stream|from()|mean()', [['1:15', '', '', 'write |mean(field string)']]],
  [
    'stream|from()|mean(usage)',
    [
      [
        '1:20',
        'usage',
        'stream time',
        'names of fields and tags stand in double quotes, texts in single quotes',
      ],
    ],
  ],
  [
    'stream|from()|mean("usage")',
    [['1:15', 'reference', 'string', "strings are written in single quotes: 'text'"]],
  ],
  [
    'stream|from()|eval(lambda: "x")',
    [['1:15', '0 names', '1 names', "name each result: .as('name')"]],
  ],
  [
    'stream|from()|eval("x").as(\'y\')',
    [['1:15', 'reference', 'lambda', 'write lambda: before the expression']],
  ],
  ['batch|from()', [['1:7', '|from', '', 'written points are read by stream|from()']]],
  ["stream|query('select 1')", [['1:8', '|query', '', 'a database is read by batch|query()']]],
  ['stream.from()', [['1:8', '.from', '|from', 'write |from(…)']]],
  [
    'stream|from()|alert().critical(lambda: TRUE)',
    [['1:23', '.critical', '', 'did you mean crit?']],
  ],
  [
    'stream|from()|alert().crit(TRUE)',
    [['1:23', 'bool', 'lambda', 'write lambda: before the expression']],
  ],
  ['stream|from()|alert().slak()', [['1:23', '.slak', '', 'did you mean slack?']]],
  ['var x = 5\nvar x = 6\nstream|from()', [['2:1', '', '', 'choose another name']]],
  [
    'stream|from().measurement(nme)',
    [
      [
        '1:27',
        'nme',
        'stream time',
        'names of fields and tags stand in double quotes, texts in single quotes',
      ],
    ],
  ],
  [
    "var name = 'cpu'\nstream|from().measurement(nam)",
    [['2:27', 'nam', 'name stream time', 'did you mean name?']],
  ],
  ['var x int = 5', [['1:11', '=', 'an operand', 'a var has either a type or a value']]],
  ['var x = ', [['1:9', 'EOF', 'an operand', 'the statement is not complete']]],
  [
    'stream|from()|groupBy(host)',
    [
      [
        '1:23',
        'host',
        'stream time',
        'names of fields and tags stand in double quotes, texts in single quotes',
      ],
    ],
  ],
  [
    'stream|from()|groupBy("host")',
    [
      [
        '1:15',
        'reference',
        'string *',
        "write tags in single quotes: groupBy('host'), or groupBy(*)",
      ],
    ],
  ],
  ['stream|from()|join(stream|from())', [['1:15', '', '', "name the sides: .as('left', 'right')"]]],
  [
    'var a = stream|from()\nvar b = stream|from()\na|join(b)',
    [['3:3', '', '', "name the sides: .as('left', 'right')"]],
  ],
  [
    "stream|from()|derivative('x').unit(5)",
    [['1:31', 'int', 'duration', 'write a duration with its unit, 10s']],
  ],
  ['stream|from()|httpOut()', [['1:15', '', '', 'write |httpOut(endpoint string)']]],
  [
    "stream|from()|percentile('x')",
    [['1:15', '', '', 'write |percentile(field string, percentile float)']],
  ],
  [
    "stream|from()|percentile('x', 'y')",
    [['1:15', 'string', 'float', 'write |percentile(field string, percentile float)']],
  ],
  ['stream|from()|where()', [['1:15', '', '', 'write |where(condition lambda)']]],
  [
    "stream\n|from()\n.measurement('cpu';",
    [['3:19', "unknown state, last char: ';'", ')', 'statements need no separator']],
  ],
  [
    'dbrp "db"."rp"',
    [
      [
        '1:1',
        'neither',
        'stream batch',
        'a script reads points with stream|from(), or asks a database with batch|query()',
      ],
    ],
  ],
  [
    'dbrp db.rp\nstream|from()',
    [['1:6', 'identifier', 'reference', 'write the name in double quotes']],
  ],
  [
    'stream|from()@notThere()',
    [
      [
        '1:15',
        '@notThere',
        '',
        'user-defined functions are named in the configuration, in [udf.functions]',
      ],
    ],
  ],
  [
    "stream|queryFlux('x')",
    [['1:8', '|queryFlux', '', 'a database is read by batch|query(), in InfluxQL']],
  ],
  [
    "batch|queryFlux('x')",
    [['1:7', 'queryFlux', '', 'write |query() with a statement of InfluxQL']],
  ],
  ['stream|from()|window(5m)', [['1:15', '', '', 'write |window()']]],
  [
    'STREAM|from()',
    [
      [
        '1:1',
        'neither',
        'stream batch',
        'a script reads points with stream|from(), or asks a database with batch|query()',
      ],
    ],
  ],
  [
    'stream|from() | where(lambda: TRUE',
    [['1:35', 'EOF', ')', 'a closing parenthesis, a comma or an operator is missing']],
  ],
  [
    'var a = [1, 2]\nstream|from()',
    [['1:10', 'number', 'identifier string *', 'lists hold texts, names and stars']],
  ],
  [
    'var re = /[a-z/\nstream|from()',
    [
      [
        '1:10',
        '',
        '',
        'regular expressions have the syntax of RE2; a backslash takes the meaning from a character',
      ],
    ],
  ],
  [
    'stream|from().where(lambda: "h" =~ /(abc/)',
    [
      [
        '1:36',
        '',
        '',
        'regular expressions have the syntax of RE2; a backslash takes the meaning from a character',
      ],
    ],
  ],
  [
    '',
    [
      [
        '1:1',
        'neither',
        'stream batch',
        'a script reads points with stream|from(), or asks a database with batch|query()',
      ],
    ],
  ],
  [
    'stream',
    [
      [
        '1:1',
        'neither',
        'stream batch',
        'a script reads points with stream|from(), or asks a database with batch|query()',
      ],
    ],
  ],
  [
    'stream|from()\n   |alert()\n  .crit(lambda "x" > 1)',
    [['3:16', 'reference', ')', 'write lambda: with a colon']],
  ],
  [
    'var a = stream|from(\nvar b = 08\nvar c = a|frm()',
    [
      ['2:1', 'var', 'an operand', 'the statement before is not complete'],
      ['2:9', '', '', 'integers that begin with 0 are octal'],
    ],
  ],
  ['stream|from()|barrier()', [['1:15', '', '', 'set .idle(duration) or .period(duration)']]],
  ['stream|from()|sample()', [['1:15', '', '', 'write |sample(rate value)']]],
  ['stream|from()|shift()', [['1:15', '', '', 'write |shift(shift duration)']]],
  ['stream|from()|stats()', [['1:15', '', '', 'write |stats(interval duration)']]],
  [
    'stream|from()|deadman()',
    [['1:15', '', '', 'write |deadman(threshold float, interval duration, condition lambda...)']],
  ],
  ['stream|from().wehre(lambda: TRUE)', [['1:15', '.wehre', '', 'did you mean where?']]],
  ["var a = stream|from()\na|join(b).as('x', 'y')", [['2:8', 'b', 'a stream time', NAMES_HINT]]],
  [
    'stream|from().where(lambda: not "a")',
    [['1:33', 'reference', ')', 'write ! for a logical not']],
  ],
  [
    'stream|from().where(lambda: "a" IN (1))',
    [['1:33', 'identifier', ')', 'compare with == and OR, or match a pattern with =~']],
  ],
  [
    'stream|from()|window().period(1.5h)',
    [['1:34', 'identifier', ')', 'write a duration with a whole number, 90m instead of 1.5h']],
  ],
  ['x = 5\nstream|from()', [['1:3', '=', 'an operand', 'write var x = …']]],
  ['var 1x = 5\nstream|from()', [['1:5', 'number', 'identifier', 'names begin with a letter']]],
  [
    'dbrp "d"\nstream|from()',
    [['2:1', 'identifier', '.', 'write database and policy: dbrp "database"."policy"']],
  ],
  ['/* why */ stream|from()', [['1:1', '', '', 'comments begin with //']]],
  ['stream|from())|log()', [['1:14', ')', 'an operand', 'one parenthesis too many']]],
  ['stream|from().where(lambda: "a" >)', [['1:34', ')', 'an operand', 'an operand is missing']]],
  [
    'stream|from()|sample(1.5)',
    [
      [
        '1:15',
        'float',
        'int duration',
        'write |sample(10) for each tenth point, |sample(10s) for one every 10 s',
      ],
    ],
  ],
  [
    'stream|from()|window().period(1s)|window().period(1m)',
    [['1:35', 'batch', '', "make points of the batches first, with |trickle() or |mean('field')"]],
  ],
  ['stream|from()|trickle()', [['1:15', 'stream', '', 'leave it out: these are points already']]],
  [
    'stream|from()|influxDBOut()|log()',
    [['1:29', '|log', '', 'nothing follows |influxDBOut(): begin a new chain before it']],
  ],
  [
    "batch|query('SELECT v FROM m')|from()",
    [
      [
        '1:32',
        '|from',
        '',
        'written points are read by stream|from(); what follows a query has its answer',
      ],
    ],
  ],
  [
    "stream|from()\nbatch|query('SELECT v FROM m')",
    [
      [
        '1:1',
        'both',
        'stream batch',
        'a script has either stream|from() or batch|query(), not both',
      ],
    ],
  ],
  [
    'var x = 5',
    [
      [
        '1:1',
        'neither',
        'stream batch',
        'a script reads points with stream|from(), or asks a database with batch|query()',
      ],
    ],
  ],
];

test.each(MISTAKES)('%j', (script, findings) => {
  const { diagnostics, error } = buildPipeline(script);

  expect(
    diagnostics.map(({ line, column, found = '', expected = [], hint = '' }) => [
      `${line}:${column}`,
      found,
      expected.length > OPERAND_KINDS ? 'an operand' : expected.join(' '),
      hint,
    ]),
  ).toEqual(findings);
  expect(diagnostics[0]?.message).toBe(error?.text);
});

test('statements that are wrong by themselves are all told of, those that build on them are not', () => {
  const { diagnostics } = buildPipeline(
    "var a = stream|frm()\nvar b = a|window()\nstream|from().measurement(5)\nvar c = 1s + 'x'",
  );

  expect(diagnostics.map(({ line, code }) => [line, code])).toEqual([
    [1, 'TICK_UNKNOWN_METHOD'],
    [3, 'TICK_WRONG_ARGUMENTS'],
    [4, 'TICK_CONSTANT'],
  ]);
});
