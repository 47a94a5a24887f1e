// Places where secrets must not appear, the audit of what happened, and tokens signed by others.
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

let directory: string;
let service: TestService | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-secrets-'));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const basic = (user: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const ROOT = "CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES";

describe('a password is not', () => {
  const ENDLESS =
    'SELECT mean(f) FROM m WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)';

  test('in SHOW QUERIES, the log of slow queries, the access log or the audit log', async () => {
    const files = { access: join(directory, 'access'), audit: join(directory, 'audit') };
    service = await startTestService({
      config: {
        coordinator: { 'log-queries-after': '1ms', 'max-filled-windows': 0 },
        http: { 'access-log-path': files.access, 'audit-log-path': files.audit },
      },
    });
    const started = service;
    await started.query('CREATE DATABASE d');
    await started.write('m f=1 1', { db: 'd' });
    const abort = new AbortController();
    const q = `CREATE USER ana WITH PASSWORD 'hush'; SET PASSWORD FOR ana = 'hush2'; CREATE SUBSCRIPTION s ON d.autogen DESTINATIONS ALL 'http://me:hush3@127.0.0.1:1'; ${ENDLESS}`;
    const running = fetch(
      `${started.url}/query?${new URLSearchParams({ db: 'd', q, u: 'x', p: 'hush4', chunked: 'true' })}`,
      { method: 'POST', signal: abort.signal },
    );

    const shown = await untilDefined('the query', async () => {
      const { text } = await started.query('SHOW QUERIES');
      return text.includes('mean') ? text : undefined;
    });
    expect(shown).toContain('CREATE USER ana WITH PASSWORD [REDACTED]');
    await untilDefined('the last change', () =>
      started.logged.find((line) => line.includes('"statement":"CREATE SUBSCRIPTION')),
    );
    abort.abort();
    await running.then((answer) => answer.text()).catch(() => undefined); // It was cut off.
    const slow = await untilDefined('the slow query', () =>
      started.logged.find((line) => line.includes('"slow query"') && line.includes('mean')),
    );
    expect(slow).toContain('SET PASSWORD FOR ana = [REDACTED]');
    expect(slow).toContain('http://me:[REDACTED]@127.0.0.1:1');
    await started.stop();

    const written = [
      shown,
      ...started.logged,
      ...Object.values(files).map((file) => readFileSync(file, 'utf8')),
    ];
    expect(readFileSync(files.audit, 'utf8')).toContain('CREATE SUBSCRIPTION s ON d.autogen');
    expect(written.join('')).not.toContain('hush');
  });

  test('in the error of a statement that does not parse', async () => {
    service = await startTestService();
    for (const q of [
      'CREATE USER x WITH PASSWORD hush',
      "CREATE USER x WITH PASSWORD 'hush",
      "SET PASSWORD FOR x 'hush'",
      'SET PASSWORD FOR x = hush WITH ALL',
      "CREATE USER x WITH PASSWORD 'hush' WITH",
      "CREATE USER x WITH PASSWORD = 'hush'",
    ]) {
      const answer = await service.query(q);
      expect([answer.status, answer.json.error]).toEqual([
        400,
        expect.stringMatching(/^error parsing query: found /),
      ]);
      expect(answer.json.error, q).not.toContain('hush');
      expect(answer.headers.get('x-influxdb-error'), q).not.toContain('hush');
    }
    expect(service.logged.join('')).not.toContain('hush');
  });

  test('in the catalog, and neither is an API token', async () => {
    service = await startTestService({ config: { http: { 'auth-enabled': true } } });
    await service.query("CREATE USER root WITH PASSWORD 'hushhush' WITH ALL PRIVILEGES");
    const made = await service.get('/api/tokens', {
      method: 'POST',
      headers: basic('root', 'hushhush'),
      body: JSON.stringify({ name: 'grafana', user: 'root' }),
    });
    expect(made.status).toBe(201);
    await service.stop();

    const folder = join(service.directory, 'tsdb', 'meta');
    const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('');
    expect(bytes).toContain('grafana');
    expect(bytes).not.toContain('hushhush');
    expect(bytes).not.toContain(made.json.token);
  });
});

test('the audit log has changes and refusals whatever the level of the service log, and survives rotation', async () => {
  const path = join(directory, 'audit.log');
  service = await startTestService({
    config: { http: { 'auth-enabled': true, 'audit-log-path': path } },
  });
  await service.query(ROOT);
  const admin = { headers: basic('root', 'pw') };
  await service.query("CREATE USER ana WITH PASSWORD 'pw'", {}, admin);
  await service.get('/debug/loglevel', { method: 'POST', body: '{"level":"off"}', ...admin });
  await service.query(
    'DROP DATABASE d',
    {},
    { headers: { ...basic('ana', 'pw'), 'X-Request-Id': 'mine' } },
  );
  await service.query('SHOW USERS', {}, { headers: basic('ana', 'wrong') });
  await service.query('SHOW USERS', {}, admin);
  renameSync(path, `${path}.1`);
  service.reload();
  await service.query('CREATE DATABASE later', {}, admin);
  await service.stop();

  const read = (file: string): Record<string, unknown>[] =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const shortly = ({ event, user, address, statement, level, reason }: Record<string, unknown>) => [
    event,
    user,
    address,
    statement ?? level ?? reason,
  ];
  const before = read(`${path}.1`);
  expect(before.map(shortly)).toEqual([
    ['statement', '', '127.0.0.1', 'CREATE USER root WITH PASSWORD [REDACTED] WITH ALL PRIVILEGES'],
    ['statement', 'root', '127.0.0.1', 'CREATE USER ana WITH PASSWORD [REDACTED]'],
    ['log level', 'root', '127.0.0.1', 'silent'],
    [
      'request refused',
      'ana',
      '127.0.0.1',
      "error authorizing query: ana not authorized to execute statement 'DROP DATABASE d', requires admin privilege",
    ],
    ['credentials refused', '', '127.0.0.1', 'authorization failed'],
  ]);
  expect(before[3]).toMatchObject({
    requestId: 'mine',
    path: '/query',
    time: expect.stringMatching(/Z$/),
  });
  expect(read(path).map(shortly)).toEqual([
    ['statement', 'root', '127.0.0.1', 'CREATE DATABASE later'],
  ]);
});

describe('tokens signed with a private key', () => {
  const soon = Math.floor(Date.now() / 1000) + 600;

  test('are checked with the keys of the file, RS256 and ES256 side by side', async () => {
    const algorithms = ['RS256', 'ES256'];
    const pairs = await Promise.all(algorithms.map((alg) => generateKeyPair(alg)));
    const keys = await Promise.all(
      pairs.map(async ({ publicKey }, i) => {
        const alg = algorithms[i];
        return { ...(await exportJWK(publicKey)), kid: `key of ${alg}`, alg };
      }),
    );
    const file = join(directory, 'keys.json');
    writeFileSync(file, JSON.stringify({ keys }));
    service = await startTestService({
      config: { http: { 'auth-enabled': true, 'jwks-file': file } },
    });
    await service.query(ROOT);
    const ask = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await service?.get('/query?q=SHOW+USERS', { headers });
      return [answer?.status, answer?.json.error];
    };

    for (const [i, { privateKey }] of pairs.entries()) {
      const alg = algorithms[i] ?? '';
      const sign = (claims: Record<string, unknown>, signer = privateKey) =>
        new SignJWT(claims).setProtectedHeader({ alg, kid: `key of ${alg}` }).sign(signer);
      const stranger = (await generateKeyPair(alg)).privateKey;
      expect(await ask(await sign({ username: 'root', exp: soon }))).toEqual([200, undefined]);
      const refused = [401, 'authorization failed'];
      expect(await ask(await sign({ username: 'root' }))).toEqual(refused);
      expect(await ask(await sign({ username: 'root', exp: 1 }))).toEqual(refused);
      expect(await ask(await sign({ username: 'root', exp: soon }, stranger))).toEqual(refused);
      // The public key is no secret: a token that was signed with it as one is not let in.
      const confused = await new SignJWT({ username: 'root', exp: soon })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(JSON.stringify(keys[i])));
      expect(await ask(confused)).toEqual(refused);
    }
  });

  test('a file of keys that cannot be read is named', async () => {
    const file = join(directory, 'nope.json');
    await expect(startTestService({ config: { http: { 'jwks-file': file } } })).rejects.toThrow(
      /http\.jwks-file cannot be read/,
    );
    writeFileSync(file, '{"keys": 7}');
    await expect(startTestService({ config: { http: { 'jwks-file': file } } })).rejects.toThrow(
      /http\.jwks-file cannot be read/,
    );
  });
});
