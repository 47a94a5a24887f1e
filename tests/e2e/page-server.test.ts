// The web application's server in front of both services with authentication on: which client
// address they trust.
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';

import { eventually, makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let directory: string;
let server: Tidemark;
beforeAll(async () => {
  directory = await makeDirectory();
  const args = ['--database-http-auth-enabled', 'true', '--engine-http-auth-enabled', 'true'];
  args.push('--database-http-audit-log-path', join(directory, 'audit.log'));
  server = await startTidemark({ args });
});
afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
  await removeDirectory(directory);
});

/** Status of a request that comes from another address of this machine. */
function statusFrom(
  localAddress: string,
  url: string,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', localAddress, headers, agent: false },
      (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

const credentials = (user: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

async function addressOf(requestId: string): Promise<unknown> {
  return eventually(`a line about ${requestId}`, async () => {
    const lines = (await readFile(join(directory, 'audit.log'), 'utf8')).trim().split('\n');
    const found = lines
      .map((line) => JSON.parse(line))
      .find((line) => line.requestId === requestId);
    return found?.address;
  });
}

test('services count wrong passwords for the address of the page’s client, and believe nobody else', async () => {
  const admin = "/query?q=CREATE+USER+root+WITH+PASSWORD+'pw'+WITH+ALL+PRIVILEGES";
  expect(await statusFrom('127.0.0.1', `${server.tsdb}${admin}`, {})).toBe(200);
  const wrong = (id: string) => ({
    ...credentials('root', 'wrong'),
    'X-Request-Id': id,
    'X-Forwarded-For': '192.0.2.1',
    'X-Tidemark-Page-Key': '',
  });
  const path = '/query?q=SHOW+USERS';

  expect(await statusFrom('127.0.0.7', `${server.ui}/api/tsdb${path}`, wrong('page'))).toBe(401);
  expect(await addressOf('page')).toBe('127.0.0.7');
  expect(await statusFrom('127.0.0.8', `${server.tsdb}${path}`, wrong('direct'))).toBe(401);
  expect(await addressOf('direct')).toBe('127.0.0.8');

  const tasks = `${server.ui}/api/engine/engine/v1/tasks`;
  for (let i = 0; i < 12; i++) await statusFrom('127.0.0.9', tasks, credentials('root', `x${i}`));
  expect(await statusFrom('127.0.0.9', tasks, credentials('root', 'pw'))).toBe(429);
  expect(await statusFrom('127.0.0.10', tasks, credentials('root', 'pw'))).toBe(400);
});
