// The database's shell: statements from flags, standard input and files, and a session on a real terminal.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import {
  eventually,
  EXECUTABLE,
  hasPeer,
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
  server = await startTidemark({ command: 'tsdb' });
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
    process.execPath,
    [EXECUTABLE, 'shell', '--url', server.tsdb, '--database', 'house', ...args],
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

    const printed = await run(process.execPath, [
      EXECUTABLE,
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

  test('wrong flags end with status 2, a server that is away with 1', async () => {
    expect(await shell(['--format', 'xml', '--execute', 'SHOW DATABASES'])).toMatchObject({
      status: 2,
      stderr: 'tidemark: --format is one of column, csv, json; got xml\n',
    });
    const away = await run(process.execPath, [
      EXECUTABLE,
      'shell',
      '--port',
      '1',
      '--execute',
      'SHOW DATABASES',
    ]);
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

describe.skipIf(!hasPeer('tmux', 'tmux', ['-V']))('on a terminal', () => {
  const socket = `tidemark-${process.pid}`;
  const tmux = async (...args: string[]): Promise<string> => {
    const result = await run('tmux', ['-L', socket, '-f', '/dev/null', ...args]);
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

  afterAll(() => run('tmux', ['-L', socket, 'kill-server']));

  test('continues unfinished statements, completes names, keeps no passwords', async () => {
    const history = file('history');
    await tmux(
      'new-session',
      '-d',
      '-x',
      '120',
      '-y',
      '40',
      '-e',
      `TIDEMARK_HISTORY_FILE=${history}`,
      process.execPath,
      EXECUTABLE,
      'shell',
      '--url',
      server.tsdb,
      '--database',
      'house',
    );
    await screenShows(/Connected to .*\n> /);

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
});
