// Both services of `tidemark up` with authentication, set up as the guide says
// (docs/guide/authentication.md), and every group of verbs with the same credentials.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { eventually, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

const ADMIN = { TIDEMARK_USERNAME: 'admin', TIDEMARK_PASSWORD: 'secret' };

let server: Tidemark;
beforeAll(async () => {
  server = await startTidemark({
    args: ['--database-http-auth-enabled', 'true', '--engine-http-auth-enabled', 'true'],
  });
  const made = await tidemark(
    ['tsdb', 'setup', '--username', 'admin', '--url', server.tsdb],
    ADMIN,
  );
  expect(made).toMatchObject({ status: 0 });
});
afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const tidemark = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunResult> => runInProcess(args, environment);

test('the engine gets a user of its own, without a restart', async () => {
  const statement =
    "CREATE USER engine WITH PASSWORD 'hush' WITH ALL PRIVILEGES; CREATE DATABASE d";
  await tidemark(['shell', '--url', server.tsdb, '--execute', statement], ADMIN);
  const changed = await fetch(`${server.engine}/engine/v1/config/tsdb/default`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('admin:secret')}` },
    body: JSON.stringify({ set: { username: 'engine', password: 'hush' } }),
  });
  expect(changed.status).toBe(200);

  const subscribed = await eventually('the subscription of the engine', async () => {
    const shown = await tidemark(
      ['shell', '--url', server.tsdb, '--execute', 'SHOW SUBSCRIPTIONS', '--format', 'csv'],
      ADMIN,
    );
    return shown.stdout.includes('d,autogen,tidemark-') ? shown : undefined;
  });
  expect(subscribed.status).toBe(0);
}, 120_000);

describe('one scheme of credentials', () => {
  const verbs = (): readonly (readonly [string, readonly string[]])[] => [
    ['shell', ['shell', '--url', server.tsdb, '--execute', 'SHOW DATABASES']],
    ['export', ['tsdb', 'export', '--url', server.tsdb, '--lines-only']],
    [
      'backup',
      ['tsdb', 'backup', join(server.directory, `${Math.random()}.bak`), '--url', server.tsdb],
    ],
    ['task', ['task', 'list', '--url', server.engine]],
  ];

  test.each([
    ['the environment', [], ADMIN],
    ['the older shell’s environment', [], { INFLUX_USERNAME: 'admin', INFLUX_PASSWORD: 'secret' }],
    ['--user', ['--user', 'admin:secret'], {}],
    [
      '--user, and the password of the environment',
      ['--user', 'admin'],
      { TIDEMARK_PASSWORD: 'secret' },
    ],
  ])('%s', async (_name, options, environment) => {
    for (const [name, verb] of verbs()) {
      const { status, stderr } = await tidemark([...verb, ...options], environment);
      expect([name, status, stderr.split('\n')[0]]).toEqual([name, 0, expect.any(String)]);
    }
  });

  test('a token, as an option and in the environment', async () => {
    const response = await fetch(`${server.tsdb}/api/tokens`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('admin:secret')}` },
      body: JSON.stringify({ name: 'cli', user: 'admin' }),
    });
    const { token } = (await response.json()) as { token: string };

    for (const [name, verb] of verbs()) {
      const byOption = await tidemark([...verb, '--token', token]);
      const byEnvironment = await tidemark(
        verb.map((word) => word.replace(/\.bak$/, '.2.bak')),
        { TIDEMARK_TOKEN: token },
      );
      expect([name, byOption.status, byEnvironment.status]).toEqual([name, 0, 0]);
    }
  });

  test('without any, every one of them is refused', async () => {
    for (const [name, verb] of verbs()) {
      const { status, stderr } = await tidemark(verb);
      expect([name, status, stderr]).toEqual([
        name,
        1,
        expect.stringMatching(/authori[sz]|credentials/),
      ]);
    }
  });
});

test('the guide has the statements of this test', async () => {
  const guide = await readFile(
    new URL('../../docs/guide/authentication.md', import.meta.url),
    'utf8',
  );
  expect(guide).toContain('/engine/v1/config/tsdb/default');
  expect(guide).toContain('tidemark tsdb setup --username admin');
});
