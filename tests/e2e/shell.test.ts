// The database's shell: statements from flags, standard input and files, and a session on a real
// terminal.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import {
  eventually,
  EXECUTABLE,
  hasPrograms,
  query,
  removeDirectory,
  run,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let server: Tidemark;

beforeAll(async () => {
  // Statements that nobody waits for the end of fill more windows than they may by default.
  server = await startTidemark({ command: 'tsdb', args: ['--coordinator-max-filled-windows=0'] });
  await query(server.tsdb, 'CREATE DATABASE house');
  await write(
    server.tsdb,
    'house',
    'room,name=cellar celsius=12 1700000000000000000\nroom,name=kitchen celsius=21.5,n=9007199254740993i 1700000010000000000',
  );
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const file = (name: string): string => join(server.directory, name);

function shell(args: readonly string[], input?: string): Promise<RunResult> {
  return run(
    EXECUTABLE,
    ['shell', '--url', server.tsdb, '--database', 'house', ...args],
    input === undefined ? {} : { input },
  );
}

describe('formats', () => {
  test('column is the default', async () => {
    expect(await shell(['--execute', 'SELECT celsius FROM room GROUP BY "name"'])).toEqual({
      status: 0,
      stderr: '',
      stdout: [
        'name: room',
        'tags: name=cellar',
        'time                celsius',
        '----                -------',
        '1700000000000000000 12',
        '',
        'name: room',
        'tags: name=kitchen',
        'time                celsius',
        '----                -------',
        '1700000010000000000 21.5',
        '',
      ].join('\n'),
    });
  });

  test('csv, in the old single-dash spellings', async () => {
    const { hostname, port } = new URL(server.tsdb);
    const args = ['-host', hostname, '-port', port, '-database', 'house', '-format', 'csv'];

    const printed = await run(EXECUTABLE, [
      'shell',
      ...args,
      '-precision',
      'rfc3339',
      '-execute',
      'SELECT * FROM room',
    ]);

    expect(printed).toEqual({
      status: 0,
      stderr: '',
      stdout:
        'name,time,celsius,n,name\nroom,2023-11-14T22:13:20Z,12,,cellar\nroom,2023-11-14T22:13:30Z,21.5,9007199254740993,kitchen\n',
    });
  });

  test('json keeps all digits of integers; --precision scales times', async () => {
    const printed = await shell([
      '--format',
      'json',
      '--precision',
      's',
      '--execute',
      'SELECT n FROM room',
    ]);

    expect(printed.stdout).toBe(
      '{"results":[{"series":[{"name":"room","columns":["time","n"],"values":[[1700000010,9007199254740993]]}]}]}\n',
    );
  });
});

test('every single-dash spelling of the older shell works', async () => {
  const { hostname, port } = new URL(server.tsdb);
  const old = (...args: string[]) =>
    run(EXECUTABLE, ['shell', '-host', hostname, '-port', port, ...args]);
  const statement = ['-database', 'house', '-execute', 'SELECT celsius FROM room LIMIT 1'];

  expect((await old('-version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  // Without authentication any user is let in.
  const named = await old(
    '-username',
    'me',
    '-password',
    'x',
    '-format=json',
    '-pretty',
    ...statement,
  );
  expect([named.status, named.stdout.split('\n')[1]]).toEqual([0, '    "results": [']);
  const csv = await old('-format', 'csv', '-precision', 's', ...statement);
  expect(csv.stdout).toBe('name,time,celsius\nroom,1700000000,12\n');

  const path = file('old.txt.gz');
  await writeFile(
    path,
    gzipSync('# DDL\nCREATE DATABASE old\n# DML\n# CONTEXT-DATABASE: old\nm f=1 1\n'),
  );
  const imported = await old(
    '-import',
    '-path',
    path,
    '-compressed',
    '-pps',
    '1000',
    '-precision',
    's',
    '-consistency',
    'one',
  );
  expect(imported).toMatchObject({
    status: 0,
    stdout: 'Processed 1 commands\nProcessed 1 inserts\nFailed 0 inserts\n',
  });
  expect((await query(server.tsdb, 'SELECT f FROM m', 'old', { epoch: 's' }))[0]?.values).toEqual([
    [1, 1],
  ]);
});

test('a unix socket, and a certificate that nobody vouches for', async () => {
  const certificate = new URL('../../packages/tsdb/src/testdata/localhost.pem', import.meta.url);
  const socket = file('tsdb.sock');
  const secure = await startTidemark({
    command: 'tsdb',
    args: [
      '--http-https-enabled',
      'true',
      '--http-https-certificate',
      certificate.pathname,
      '--http-unix-socket-enabled',
      'true',
      '--http-bind-socket',
      socket,
    ],
  });
  try {
    const ask = (...args: string[]) =>
      run(EXECUTABLE, [
        'shell',
        ...args,
        '-execute',
        'CREATE DATABASE d; SHOW DATABASES',
        '-format',
        'csv',
      ]);
    expect(await ask('-socket', socket)).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('d\n') as unknown,
    });
    const { hostname, port } = new URL(secure.tsdb);
    const refused = await ask('-host', hostname, '-port', port, '-ssl');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('certificate')]);
    const trusting = await ask('-host', hostname, '-port', port, '-ssl', '-unsafeSsl');
    expect([trusting.status, trusting.stdout]).toEqual([0, expect.stringContaining('d\n')]);
  } finally {
    await secure.stop();
    await removeDirectory(secure.directory);
  }
});

test('a plan is a tree, and series are drawn', async () => {
  const plan = await shell(['--execute', 'EXPLAIN SELECT mean(celsius) FROM room']);
  expect(plan.stdout).toMatch(
    /^query plan\n└── mean\(celsius::float\)\n    ├── number of shards: 1\n/,
  );
  expect(plan.stdout).toMatch(/\noperators\n└── select: mean\n {4}└── evaluate columns\n/);
  const lines = Array.from(
    { length: 8 },
    (_, i) => `wave,name=a f=${i} ${i}\nwave,name=b f=${7 - i} ${i}`,
  );
  await write(server.tsdb, 'house', lines.join('\n'));
  const drawn = await shell(['--spark', '--execute', 'SELECT f FROM wave GROUP BY "name"']);
  expect(drawn.stdout).toBe(
    [
      'name: wave',
      'name points f        last(f)',
      '---- ------ -        -------',
      'a    8      ▁▂▃▄▅▆▇█ 7',
      'b    8      █▇▆▅▄▃▂▁ 0',
      '',
    ].join('\n'),
  );
});

describe('errors', () => {
  test('a wrong statement ends with status 1 and a caret below the place', async () => {
    const failed = await shell(['--execute', 'SELECT celsius FORM room']);

    expect(failed).toMatchObject({ status: 1, stdout: '' });
    const [message = '', line = '', mark = ''] = failed.stderr.split('\n');
    expect(message).toMatch(
      /^ERR: error parsing query: found FORM, expected FROM at line 1, char 16$/,
    );
    expect(line).toBe('  SELECT celsius FORM room');
    expect(mark.trimEnd()).toBe(`${' '.repeat(2 + 15)}^^^^`);
  });

  test('a name that is nearly right comes with a suggestion, in an error and beside an answer', async () => {
    const wrong = await shell(['--execute', 'SELECT maen(celsius) FROM room']);
    const odd = await shell(['--execute', 'SELECT celsius, celsiu FROM room LIMIT 1']);

    expect(wrong).toMatchObject({
      status: 1,
      stderr: [
        'ERR: undefined function maen()',
        '  SELECT maen(celsius) FROM room',
        '         ^^^^',
        '  did you mean mean()?\n',
      ].join('\n'),
    });
    expect(odd.status).toBe(0);
    expect(odd.stdout).toContain('1700000000000000000 12');
    expect(odd.stdout).toContain(
      [
        'note: no field and no tag is called celsiu',
        '  SELECT celsius, celsiu FROM room LIMIT 1',
        '                  ^^^^^^',
        '  did you mean celsius?',
      ].join('\n'),
    );
  });

  test('wrong flags end with status 2, a server that is away with 1', async () => {
    expect(await shell(['--format', 'xml', '--execute', 'SHOW DATABASES'])).toMatchObject({
      status: 2,
      stderr: 'tidemark: --format is one of column, csv, json; got xml\n',
    });
    const away = await run(EXECUTABLE, ['shell', '--port', '1', '--execute', 'SHOW DATABASES']);
    expect(away.status).toBe(1);
    expect(away.stderr).toContain('127.0.0.1:1');
  });
});

describe('other inputs', () => {
  test('statements from standard input stop at the first failure', async () => {
    const printed = await shell(
      ['--format', 'csv'],
      'INSERT fed f=1 1\nSELECT f FROM fed\nnonsense\nSELECT f FROM fed\n',
    );

    expect(printed.status).toBe(1);
    expect(printed.stdout).toBe('name,time,f\nfed,1,1\n');
    expect(printed.stderr).toContain('found nonsense');
  });

  test('a statement from standard input may go over several lines', async () => {
    const text = 'SELECT celsius\nFROM room WHERE\n"name" = \'kitchen\'\nSHOW MEASUREMENTS\n';
    const printed = await shell(['--format', 'csv', '--precision', 's'], text);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(printed.stdout).toContain('room,1700000010,21.5\n');
  });

  test.each([false, true])('imports a file; compressed: %s', async (isCompressed) => {
    const database = `imported_${isCompressed}`;
    const path = file(`${database}.txt`);
    const text = `# DDL\nCREATE DATABASE ${database}\n# DML\n# CONTEXT-DATABASE: ${database}\nm f=1 1\nm f=2 2\n`;
    await writeFile(path, isCompressed ? gzipSync(text) : text);

    const imported = await shell([
      '--import',
      '--path',
      path,
      ...(isCompressed ? ['--compressed'] : []),
    ]);

    expect(imported).toMatchObject({ status: 0 });
    expect(imported.stdout).toContain('Processed 2 inserts\nFailed 0 inserts');
    expect((await query(server.tsdb, 'SELECT f FROM m', database))[0]?.values).toHaveLength(2);
  });
});

describe.skipIf(!hasPrograms('tmux'))('on a terminal', () => {
  // A server ends with its last window, which a new one must not run into: every terminal has its
  // own.
  let terminals = 0;
  const socketOf = (terminal: number) => `tidemark-${process.pid}-${terminal}`;
  const tmux = async (...args: string[]): Promise<string> => {
    const result = await run('tmux', ['-L', socketOf(terminals), '-f', '/dev/null', ...args]);
    if (result.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  const screenShows = (text: string | RegExp): Promise<string> =>
    eventually(`${text} on the screen`, async () => {
      const screen = await tmux('capture-pane', '-p', '-J', '-S', '-');
      return (typeof text === 'string' ? screen.includes(text) : text.test(screen))
        ? screen
        : undefined;
    });
  const type = (text: string) => tmux('send-keys', '-l', text);
  const enter = () => tmux('send-keys', 'Enter');

  afterAll(async () => {
    for (let terminal = 1; terminal <= terminals; terminal++) {
      // oxlint-disable-next-line no-await-in-loop -- there are a few
      await run('tmux', ['-L', socketOf(terminal), 'kill-server']);
    }
  });

  const open = async (history: string, environment: readonly string[] = []): Promise<void> => {
    terminals++;
    await tmux(
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '40',
      '-e',
      `TIDEMARK_HISTORY_FILE=${history}`,
      ...environment.flatMap((setting) => ['-e', setting]),
      EXECUTABLE,
      'shell',
      '--url',
      server.tsdb,
      '--database',
      'house',
    );
    await screenShows(/Connected to .*\n> /);
  };

  test('continues unfinished statements, completes names, keeps no passwords', async () => {
    const history = file('history');
    await open(history);

    await type('SELECT celsius FROM');
    await enter();
    await screenShows('… ');
    await type('room LIMIT 1');
    await enter();
    await screenShows('1700000000000000000 12');

    await type('SELECT celsius FROM roo');
    await tmux('send-keys', 'Tab');
    await screenShows(/FROM room\s*$/m);
    await type(' WHERE "name" = \'kitchen\'');
    await enter();
    await screenShows('1700000010000000000 21.5');

    await type("CREATE USER reader WITH PASSWORD 'hush'");
    await enter();
    await screenShows(/'hush'\n> \s*$/);
    await type('exit');
    await enter();
    const kept = await eventually('the history', async () => {
      const text = await readFile(history, 'utf8').catch(() => '');
      return text.includes('exit') ? text : undefined;
    });
    expect(kept).toContain('SELECT celsius FROM room LIMIT 1\n');
    expect(kept).not.toContain('hush');
  });

  test('Ctrl-R finds an earlier statement, Enter runs it, other keys edit it', async () => {
    const history = file('history3');
    await writeFile(history, 'SELECT celsius FROM room LIMIT 1\nSHOW DATABASES\nuse house\n');
    await open(history);

    await tmux('send-keys', 'C-r');
    await type('celsius');
    await screenShows("(search)'celsius': SELECT celsius FROM room LIMIT 1");
    await enter();
    await screenShows('1700000000000000000 12');

    await tmux('send-keys', 'C-r');
    await type('datab');
    await screenShows("(search)'datab': SHOW DATABASES");
    await tmux('send-keys', 'Left');
    await screenShows(/^> SHOW DATABASES\s*$/m);
    await tmux('send-keys', 'C-u');
    await tmux('send-keys', 'C-r');
    await type('house');
    await tmux('send-keys', 'C-g');
    await type('SELECT celsius FROM nowhere');
    await enter();
    await screenShows(/nowhere\nno rows\n/);
  });

  test('long results go through a pager, and the keyboard comes back', async () => {
    await open(file('history4'), ['TIDEMARK_PAGER=head -n 3; echo paged']);
    const hundredRows =
      'SELECT count(celsius) FROM room WHERE time >= 1700000000s AND time < 1700000100s GROUP BY time(1s) fill(0)';

    await type(hundredRows);
    await enter();
    const screen = await screenShows(/^paged/m);
    expect(screen).toContain('name: room\ntime');
    expect(screen).not.toContain('1700000099000000000');
    await type('pager');
    await enter();
    await screenShows('pager off');
    await type(hundredRows);
    await enter();
    await screenShows('1700000099000000000 0');
  });

  test('runs what was typed while a statement ran; Ctrl-C ends the statement and what follows it', async () => {
    await open(file('history2'));
    const endless =
      'SELECT count(celsius) FROM room WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)';
    const isRunning = async (): Promise<boolean> => {
      const [series] = await query(server.tsdb, 'SHOW QUERIES');
      return (series?.values ?? []).some((row) => String(row[1]).includes('count(celsius)'));
    };
    const waitFor = (what: string, isWanted: boolean) =>
      eventually(what, async () => ((await isRunning()) === isWanted ? true : undefined));

    await type(endless);
    await enter();
    await waitFor('the statement', true);
    await type('SELECT celsius FROM dropped');
    await enter();
    await tmux('send-keys', 'C-c');
    await screenShows('ERR: cancelled');
    await waitFor('the end of the statement', false);

    await type(endless);
    await enter();
    await waitFor('the statement', true);
    await type('INSERT ahead f=1 1');
    await enter();
    await type('exit');
    await enter();
    const [series] = await query(server.tsdb, 'SHOW QUERIES');
    const id = series?.values?.find((row) => String(row[1]).includes('count(celsius)'))?.[0];
    await query(server.tsdb, `KILL QUERY ${String(id)}`);

    const written = await eventually('what was typed ahead', async () => {
      const found = await query(server.tsdb, 'SELECT f FROM ahead', 'house');
      return found[0];
    });
    expect(written.values).toHaveLength(1);
  }, 40_000);
});
