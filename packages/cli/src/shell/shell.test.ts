import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';

import { TestServer } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import { rewriteOldSpellings } from '../commands/shell.ts';
import { coloursFor, NO_COLOURS } from '../output/colour.ts';
import { Completer } from './completion.ts';
import { formatResponse } from './format.ts';
import { HistorySearch } from './history-search.ts';
import { isUnfinished } from './interactive.ts';
import { LineQueue, MAX_WAITING_LINES } from './line-queue.ts';
import { caret, Session } from './session.ts';
import { sparkline } from './sparkline.ts';

const response = {
  results: [
    {
      statement_id: 0,
      series: [
        {
          name: 'cpu',
          tags: { host: 'a, b' },
          columns: ['time', 'usage', 'n'],
          values: [
            [1, 0.5, 9223372036854775807n],
            [2, null, 3],
          ],
        },
        {
          name: 'cpu',
          tags: { host: 'c' },
          columns: ['time', 'usage', 'n'],
          values: [[3, 1, null]],
        },
      ],
    },
  ],
};
const options = {
  format: 'column',
  isPretty: false,
  hasSparklines: false,
  colours: NO_COLOURS,
} as const;

test('prints columns as wide as their widest cell', () => {
  expect(formatResponse(response, options)).toBe(
    [
      'name: cpu',
      'tags: host=a, b',
      'time usage n',
      '---- ----- -',
      '1    0.5   9223372036854775807',
      '2          3',
      '',
      'name: cpu',
      'tags: host=c',
      'time usage n',
      '---- ----- -',
      '3    1',
    ].join('\n'),
  );
});

test('shortens the widest cells to fit the terminal', () => {
  const [longest] = formatResponse(response, { ...options, width: 20 })
    .split('\n')
    .toSorted((a, b) => b.length - a.length);

  expect(longest?.length).toBeLessThanOrEqual(20);
});

test('prints CSV with one header and quotes where needed', () => {
  expect(formatResponse(response, { ...options, format: 'csv' })).toBe(
    [
      'name,tags,time,usage,n',
      'cpu,"host=a, b",1,0.5,9223372036854775807',
      'cpu,"host=a, b",2,,3',
      'cpu,host=c,3,1,',
    ].join('\n'),
  );
});

test('prints JSON with all digits and without statement ids', () => {
  expect(
    formatResponse(
      {
        results: [
          { statement_id: 0, series: [{ columns: ['n'], values: [[9223372036854775807n]] }] },
        ],
      },
      { ...options, format: 'json' },
    ),
  ).toBe('{"results":[{"series":[{"columns":["n"],"values":[[9223372036854775807]]}]}]}');
});

test('draws numbers from lowest to highest', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline(['a', null], 8)).toBe('');
});

test('continues a statement that stops in the middle, and nothing else', () => {
  expect(isUnfinished('SELECT mean(f)')).toBe(true);
  expect(isUnfinished('SELECT mean(f) FROM m')).toBe(false);
  expect(isUnfinished('SELECT FROM m')).toBe(false);
  expect(isUnfinished('use db')).toBe(false);
});

test('puts a caret below the finding, in its own line', () => {
  const text = 'SELECT f\nFORM m';

  expect(caret(text, { code: 'X', message: 'm', position: 9, length: 4, hint: 'FROM' })).toBe(
    '\n  FORM m\n  ^^^^\n  FROM',
  );
});

test('puts no caret below a whole statement', () => {
  const whole = { code: 'X', message: 'm', position: 0, length: 11, hint: 'raise it' };

  expect(caret('SHOW SHARDS', whole)).toBe('\n  raise it');
});

describe('EXPLAIN is a tree', () => {
  const show = (title: string, lines: readonly string[]): string =>
    formatResponse(
      {
        results: [
          { statement_id: 0, series: [{ columns: [title], values: lines.map((l) => [l]) }] },
        ],
      },
      options,
    );

  test('with a branch per expression', () => {
    const plan = [
      'EXPRESSION: mean(f::float)',
      'NUMBER OF SHARDS: 1',
      'SIZE OF BLOCKS: 12',
      '',
      'EXPRESSION: <nil>',
      'AUXILIARY FIELDS: f::float, h::tag',
      'NUMBER OF SHARDS: 2',
    ];
    expect(show('QUERY PLAN', plan)).toBe(
      [
        'query plan',
        '├── mean(f::float)',
        '│   ├── number of shards: 1',
        '│   └── size of blocks: 12',
        '└── raw values',
        '    ├── auxiliary fields: f::float, h::tag',
        '    └── number of shards: 2',
      ].join('\n'),
    );
  });

  test('that the server has drawn already with ANALYZE', () => {
    const drawn = ['.', '└── select', '    └── total_time: 1ms'];
    expect(show('EXPLAIN ANALYZE', drawn)).toBe(drawn.join('\n'));
  });
});

describe('the table of series', () => {
  const spark = (text: typeof response): string =>
    formatResponse(text, { ...options, hasSparklines: true });

  test('has a row per series and a drawn column per field', () => {
    const rising = [0, 1, 2, 3, 4, 5, 6, 7].map((value, i) => [i, value, 'text']);
    const falling = [7, 6, 5, 4, 3, 2, 1, 0].map((value, i) => [i, value, null]);
    const columns = ['time', 'usage', 'note'];
    const one = (host: string, values: (string | number | null)[][]) => ({
      name: 'cpu',
      tags: { host },
      columns,
      values,
    });
    const answer = {
      results: [{ statement_id: 0, series: [one('a', rising), one('b', falling)] }],
    };
    expect(formatResponse(answer, { ...options, hasSparklines: true })).toBe(
      [
        'name: cpu',
        'host points usage    last(usage)',
        '---- ------ -----    -----------',
        'a    8      ▁▂▃▄▅▆▇█ 7',
        'b    8      █▇▆▅▄▃▂▁ 0',
      ].join('\n'),
    );
  });

  test('draws two points and more, and leaves alone what has no numbers', () => {
    const shown = spark(response);
    expect(shown).toContain('a, b 2            0.5         █▁ 3');
    expect(shown).toContain('c    1            1');
    const names = {
      results: [
        { statement_id: 0, series: [{ name: 'databases', columns: ['name'], values: [['a']] }] },
      ],
    };
    expect(formatResponse(names, { ...options, hasSparklines: true })).toBe(
      formatResponse(names, options),
    );
  });
});

test.each([
  ['-host', '--host'],
  ['-port', '--port'],
  ['-socket', '--socket'],
  ['-database', '--database'],
  ['-username', '--username'],
  ['-password', '--password'],
  ['-ssl', '--ssl'],
  ['-unsafeSsl', '--unsafe-ssl'],
  ['--unsafeSsl', '--unsafe-ssl'],
  ['-execute', '--execute'],
  ['-format', '--format'],
  ['-precision', '--precision'],
  ['-consistency', '--consistency'],
  ['-pretty', '--pretty'],
  ['-import', '--import'],
  ['-path', '--path'],
  ['-pps', '--pps'],
  ['-compressed', '--compressed'],
  ['-version', '--version'],
  ['-execute=SHOW DATABASES', '--execute=SHOW DATABASES'],
  ['--format', '--format'],
  ['-h', '-h'],
  ['SELECT -1', 'SELECT -1'],
])('the old spelling %s is %s', (old, expected) => {
  expect(rewriteOldSpellings([old])).toEqual([expected]);
});

describe('lines of a terminal', () => {
  const open = (): { input: PassThrough; lines: LineQueue } => {
    const input = new PassThrough();
    return { input, lines: new LineQueue(createInterface({ input })) };
  };

  test('that come while nobody asks are given later, in order', async () => {
    const { input, lines } = open();
    input.end('one\ntwo\nthree');
    await once(input, 'end');

    expect([await lines.next('> '), await lines.next('> '), await lines.next('> ')]).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(await lines.next('> ')).toBeUndefined();
  });

  test('that are asked for come when they are typed; the end wakes who waits', async () => {
    const { input, lines } = open();
    const first = lines.next('> ');
    input.write('one\n');
    expect(await first).toBe('one');
    const second = lines.next('> ');
    input.end();
    expect(await second).toBeUndefined();
  });

  test('are dropped together when what they follow is cancelled', async () => {
    const { input, lines } = open();
    input.end('x\n'.repeat(MAX_WAITING_LINES + 5));
    await once(input, 'end');
    expect(lines.clear()).toBe(MAX_WAITING_LINES + 5);
    expect(await lines.next('> ')).toBeUndefined();
  });
});

describe('completion', () => {
  /** A server that knows one schema; `asked` counts the questions. */
  async function serve() {
    const asked: string[] = [];
    const server = new TestServer(({ body }) => {
      asked.push(new URLSearchParams(body).get('q') ?? '');
      const series = [
        { name: 'databases', columns: ['name'], values: [['house']] },
        { name: 'measurements', columns: ['name'], values: [['room'], ['roof temperature']] },
        { name: 'room', columns: ['fieldKey', 'fieldType'], values: [['celsius', 'float']] },
        { name: 'room', columns: ['tagKey'], values: [['floor']] },
      ];
      return { body: JSON.stringify({ results: [{ statement_id: 0, series }] }) };
    });
    await server.open();
    const session = new Session(
      {
        url: server.url,
        socket: '',
        username: '',
        password: '',
        token: '',
        database: 'house',
        retentionPolicy: '',
        format: 'column',
        precision: 'ns',
        consistency: '',
        isPretty: false,
        hasTiming: false,
        hasSparklines: false,
        hasPager: false,
      },
      { width: () => undefined, colours: NO_COLOURS },
    );
    return { completer: new Completer(session), asked, close: () => server.close() };
  }

  test('knows keywords, functions, measurements, fields, tags, and commands at the start of a line', async () => {
    const { completer, asked, close } = await serve();
    const complete = async (line: string) => (await completer.complete(line))[0];

    expect(await complete('SEL')).toContain('SELECT');
    expect(await complete('for')).toContain('format');
    expect(await complete('SELECT for')).not.toContain('format');
    expect(await complete('SELECT perc')).toEqual(['percentile(']);
    expect(await complete('SELECT cel')).toEqual(['celsius']);
    expect(await complete('SELECT celsius FROM room GROUP BY fl')).toEqual(['floor']);
    expect(await complete('SELECT celsius FROM "roo')).toEqual(['"room"', '"roof temperature"']);
    expect((await completer.complete('SELECT celsius FROM roo'))[1]).toBe('roo');
    // One look at the schema served all of them.
    expect(asked).toHaveLength(1);
    close();
  });

  test.each([
    ["SELECT celsius FROM room WHERE floor = 'a", []],
    ['SELECT celsius FROM /ro', []],
    ['SELECT "cel', ['"celsius"']],
    ['SELECT celsius FROM room GROUP BY "', ['"floor"']],
    ['SELECT celsius FROM room WHERE f', ['floor', 'fill(']],
    ['SELECT celsius / f', ['floor', 'first(', 'floor(', 'FROM']],
    ['use ho', ['house']],
    ['SHOW MEASUREMENTS ON h', ['house']],
    ['SHOW TAG VALUES WITH KEY = f', ['floor', 'fill(']],
    ['SELECT celsius FROM room; SEL', ['SELECT']],
    ["SELECT celsius FROM room WHERE floor = 'it\\'s' AND ce", ['celsius']],
  ])('%s: %j', async (line, expected) => {
    const { completer, close } = await serve();
    expect((await completer.complete(line))[0]).toEqual(expected);
    close();
  });

  test('knows the lines before of a statement', async () => {
    const { completer, close } = await serve();
    expect((await completer.complete('roo', 'SELECT celsius\nFROM'))[0]).toEqual([
      'room',
      '"roof temperature"',
    ]);
    close();
  });

  test('still knows keywords when the server does not answer', async () => {
    const { completer, close } = await serve();
    close();
    expect((await completer.complete('SELECT f FROM m WHE'))[0]).toEqual(['WHERE']);
  });
});

describe('a search of the history', () => {
  const entries = ['SHOW DATABASES', 'SELECT f FROM new', 'USE house', 'SELECT f FROM old'];

  test('finds the newest entry, goes on to older ones, and stays at the last', () => {
    const search = new HistorySearch(entries);
    const found: string[] = [search.found];
    for (const text of ['select', ' f']) {
      search.type(text);
      found.push(search.found);
    }
    for (let i = 0; i < 2; i++) {
      search.older();
      found.push(search.found);
    }

    expect(found).toEqual([
      '',
      'SELECT f FROM new',
      'SELECT f FROM new',
      'SELECT f FROM old',
      'SELECT f FROM old',
    ]);
  });

  test('finds nothing where nothing is, and again when the last character goes', () => {
    const search = new HistorySearch(entries);
    search.type('housex');
    const missed = search.found;
    search.erase();

    expect([missed, search.found, search.wanted]).toEqual(['', 'USE house', 'house']);
  });
});

test('statements without rows say so where somebody looks, and titles are bold', () => {
  const empty = { results: [{ statement_id: 0 }, { statement_id: 1 }] };
  const emptyText = (statement: number) => (statement === 0 ? 'no rows' : undefined);
  expect(formatResponse(empty, { ...options, emptyText })).toBe('no rows');
  expect(formatResponse(empty, options)).toBe('');

  const terminal = { isTTY: true };
  const colours = coloursFor(terminal, {});
  const databases = { name: 'databases', columns: ['name'], values: [['a']] };
  const shown = formatResponse(
    { results: [{ statement_id: 0, series: [databases] }] },
    { ...options, colours },
  );
  expect(shown).toBe('\u001b[1mname: databases\u001b[0m\n\u001b[1mname\u001b[0m\n----\na');
  expect(coloursFor(terminal, { NO_COLOR: '1' })).toBe(NO_COLOURS);
  expect(coloursFor(terminal, { TERM: 'dumb' })).toBe(NO_COLOURS);
  expect(coloursFor({}, {})).toBe(NO_COLOURS);
});
