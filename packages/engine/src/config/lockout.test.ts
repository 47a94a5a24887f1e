// Changes of the default cluster, which holds the users of the engine: a change that would lock out
// everyone who can undo it is refused.
import { createHmac } from 'node:crypto';
import { freePort, query, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const SECRET = 'signs-tokens';
const CLUSTER = '/engine/v1/config/tsdb/default';

const engine = new TestEngine();
let database: Tidemark;
let open: Tidemark;
let deadUrl: string;

const basic = (user: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:of-${user}`).toString('base64')}`,
});

function signed(username: string): Readonly<Record<string, string>> {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const text = `${encode({ alg: 'HS256' })}.${encode({ username, exp })}`;
  const signature = createHmac('sha256', SECRET).update(text).digest('base64url');
  return { authorization: `Bearer ${text}.${signature}` };
}

beforeAll(async () => {
  database = await startTidemark({ command: 'tsdb', args: ['--http-auth-enabled', 'true'] });
  open = await startTidemark({ command: 'tsdb' });
  await query(database.tsdb, "CREATE USER admin WITH PASSWORD 'of-admin' WITH ALL PRIVILEGES");
  deadUrl = `http://127.0.0.1:${await freePort()}`;
  await engine.start({
    http: { 'auth-enabled': true, 'shared-secret': SECRET, 'token-admins': ['operator'] },
    tsdb: [{ name: 'default', default: true, urls: [database.tsdb] }],
  });
});
afterAll(async () => {
  await engine.close();
  for (const server of [database, open]) {
    await server.stop();
    await removeDirectory(server.directory);
  }
});

const change = (set: object, headers: Readonly<Record<string, string>> = basic('admin')) =>
  engine.call('POST', CLUSTER, { set }, headers);
const urls = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
  (await engine.call('GET', CLUSTER, undefined, headers)).json.options?.urls;

test('an address where nobody answers, or where others are known, is refused and changes nothing', async () => {
  for (const [url, reason] of [
    [deadUrl, 'ECONNREFUSED'],
    [open.tsdb, 'the database has no authentication'],
  ] as const) {
    const answer = await change({ urls: [url] });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(/^the default tsdb cluster says who may use the engine/);
    expect(answer.json.error).toContain(reason);
    expect(await urls(basic('admin'))).toEqual([database.tsdb]);
  }
  expect((await change({ enabled: false })).status).toBe(400);
});

test('changes that keep the caller an admin are accepted', async () => {
  expect((await change({ timeout: '5s' })).status).toBe(200);
  expect((await change({ urls: [database.tsdb, deadUrl] })).status).toBe(200);
  const added = { name: 'other', urls: [deadUrl] };
  const body = { add: added };
  expect((await engine.call('POST', '/engine/v1/config/tsdb', body, basic('admin'))).status).toBe(
    200,
  );
});

test('a signed token of `http.token-admins` needs no database, to break it and to repair it', async () => {
  expect((await change({ urls: [deadUrl] }, signed('operator'))).status).toBe(200);
  expect((await engine.call('GET', CLUSTER, undefined, basic('admin'))).status).not.toBe(200);
  expect((await change({ urls: [database.tsdb] }, signed('operator'))).status).toBe(200);
  expect(await urls(basic('admin'))).toEqual([database.tsdb]);
});
