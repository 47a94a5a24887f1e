// Error messages of the command line for small mistakes: each says what to do.

import { query, removeDirectory, startTidemark, TestServer, write } from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

const CERTIFICATE = new URL('../../packages/tsdb/src/testdata/localhost.pem', import.meta.url);

let server: Tidemark;
let secure: Tidemark;
beforeAll(async () => {
  [server, secure] = await Promise.all([
    startTidemark(),
    startTidemark({
      command: 'tsdb',
      args: ['--http-https-enabled', 'true', '--http-https-certificate', CERTIFICATE.pathname],
    }),
  ]);
  await query(server.tsdb, 'CREATE DATABASE d');
  await write(server.tsdb, 'd', 'cpu,host=h1 f=1 1');
});
afterAll(async () => {
  for (const one of [server, secure]) {
    await one.stop();
    await removeDirectory(one.directory);
  }
});

const shell = (url: string, statement: string, ...args: string[]): Promise<RunResult> =>
  runInProcess(['shell', '--url', url, ...args, '--execute', statement]);

describe('in the shell', () => {
  test('a statement without a database is told how to choose one here', async () => {
    const { status, stderr } = await shell(server.tsdb, 'SELECT f FROM cpu');

    expect([status, stderr]).toEqual([
      1,
      'ERR: database name required\n  choose one with: use <db>\n',
    ]);
  });

  test('the caret stands under the statement that failed, not under an earlier finding', async () => {
    const statements = 'SELECT g FROM cpu; SHOW DATABASES; SELECT maen(f) FROM cpu';

    const { stderr } = await shell(server.tsdb, statements, '--database', 'd');

    const lines = stderr.trimEnd().split('\n');
    const at = lines.indexOf('ERR: undefined function maen()');
    expect(lines.slice(at)).toEqual([
      'ERR: undefined function maen()',
      `  ${statements}`,
      `  ${' '.repeat(statements.indexOf('maen'))}^^^^`,
      '  did you mean mean()?',
    ]);
    expect(stderr).toContain('note: no field and no tag is called g');
  });

  test('seconds that are inserted as nanoseconds are noticed', async () => {
    const { status, stdout } = await shell(
      server.tsdb,
      'INSERT cpu f=2 1700000000',
      '--database',
      'd',
    );

    expect([status, stdout]).toEqual([
      0,
      'note: 1700000000 is taken as nanoseconds since 1970; is precision=s missing?\n',
    ]);
  });
});

describe('the wrong address', () => {
  test('an engine is no database', async () => {
    const { status, stderr } = await shell(server.engine, 'SHOW DATABASES');

    expect(status).toBe(1);
    expect(stderr).toContain(`${server.engine} is a task engine, not a database`);
    expect(stderr).toContain('listens on port 8086');
  });

  test('a database is no engine', async () => {
    const { status, stderr } = await runInProcess(['task', 'list', '--url', server.tsdb]);

    expect(status).toBe(1);
    expect(stderr).toContain(`${server.tsdb} is a database, not a task engine`);
    expect(stderr).toContain('listens on port 9092');
  });

  test('TLS to a server without, and the reverse', async () => {
    const plain = await shell(server.tsdb.replace('http:', 'https:'), 'SHOW DATABASES');
    const withoutTls = await shell(secure.tsdb.replace('https:', 'http:'), 'SHOW DATABASES');

    expect(plain.stderr).toMatch(/answers, but not with TLS\nTry http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(withoutTls.stderr).toMatch(
      /Does it want TLS\? Then write https:\/\/127\.0\.0\.1:\d+\n$/,
    );
  });

  test('a certificate that nobody vouches for', async () => {
    const { stderr } = await shell(secure.tsdb, 'SHOW DATABASES');

    expect(stderr).toContain(`the certificate of ${secure.tsdb} is not trusted`);
    expect(stderr).toContain('--unsafe-ssl');
  });

  test('something else that speaks HTTP', async () => {
    const other = new TestServer(() => ({ status: 404, body: 'nothing here' }));
    await other.open();

    const { status, stderr } = await runInProcess(['task', 'list', '--url', other.url]);
    await other.close();

    expect([status, stderr]).toEqual([1, 'tidemark: nothing here\n']);
  });
});

describe('what is not there', () => {
  test('a task is named, and an endpoint is told from a task', async () => {
    const { stderr } = await runInProcess(['task', 'show', 'nope', '--url', server.engine]);
    const answers = await Promise.all(
      ['tasks/nope', 'tasks/nope/out', 'taskz'].map(async (path) => {
        const response = await fetch(`${server.engine}/engine/v1/${path}`);
        return [response.status, ((await response.json()) as { error: string }).error];
      }),
    );

    expect(stderr).toBe('tidemark: no task exists with the id "nope"\n');
    expect(answers).toEqual([
      [404, 'no task exists with the id "nope"'],
      [404, 'no task exists with the id "nope"'],
      [404, 'Not Found: there is no GET /engine/v1/taskz'],
    ]);
  });
});
