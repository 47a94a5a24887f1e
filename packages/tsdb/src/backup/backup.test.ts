import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describeBackup, joinBackups, storeBackup } from '@tidemark/storage';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { LIMITS } from '../limits.ts';

// Each case starts two or three services.
vi.setConfig({ testTimeout: 60_000 });

let directory: string;
let service: TestService;
let other: TestService | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-backup-'));
  service = await startTestService();
  await service.query('CREATE DATABASE d WITH DURATION INF NAME main');
  await service.query('CREATE RETENTION POLICY "long" ON d DURATION 5000w REPLICATION 1');
  await service.query(
    'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT mean(f) INTO d."long".m FROM d.main.m GROUP BY time(1h) END',
  );
  await service.query("CREATE USER u WITH PASSWORD 'secret'");
  await service.query('GRANT READ ON d TO u');
  await service.query('CREATE DATABASE e');
  await service.write('m,t=a f=1,i=2i 1\nm,t=b f=2 2', { db: 'd' });
  await service.write('m,t=a f=3 3', { db: 'd', rp: 'long' });
  await service.write('m f=4 4', { db: 'e' });
});

afterEach(async () => {
  await service.close();
  await other?.close();
  other = undefined;
  rmSync(directory, { recursive: true, force: true });
});

async function backUp(name: string, body: unknown = {}): Promise<string> {
  const response = await fetch(`${service.url}/api/backup`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const path = join(directory, name);
  await storeBackup(path, response.body!);
  return path;
}

/** Uploads in small pieces; the answers of the last call. */
async function restore(
  to: TestService,
  files: readonly string[],
  parameters: Record<string, string> = {},
) {
  const path = '/api/restore';
  const opened = await to.get(`${path}?${new URLSearchParams(parameters)}`, { method: 'POST' });
  if (opened.status !== 201) return opened;
  const id = new URLSearchParams({ id: opened.json.id });
  for await (const portion of joinBackups(files)) {
    const body = new Uint8Array(portion);
    const answer = await to.get(`${path}?${id}`, { method: 'PUT', body });
    if (answer.status !== 204) return answer;
  }
  return to.get(`${path}?${id}`, { method: 'POST' });
}

const valuesOf = async (of: TestService, q: string, db: string) =>
  (await of.query(q, { db, epoch: 'ns' })).json.results[0].series?.[0].values;

test('everything comes back on another server: points, policies, continuous queries, users', async () => {
  const file = await backUp('all');
  await service.write('m,t=a f=9 9', { db: 'd' });
  other = await startTestService();

  const { status, json } = await restore(other, [file]);

  expect([status, json]).toEqual([
    200,
    {
      databases: ['d', 'e'],
      shards: 3,
      segments: 3,
      bytes: expect.any(Number),
      users: ['u'],
      tokens: [],
      documents: 0,
      leftOut: [],
    },
  ]);
  expect(await valuesOf(other, 'SELECT f, i, t FROM m', 'd')).toEqual([
    [1, 1, 2, 'a'],
    [2, 2, null, 'b'],
  ]);
  expect(await valuesOf(other, 'SELECT f FROM "long".m', 'd')).toEqual([[3, 3]]);
  for (const q of ['SHOW RETENTION POLICIES', 'SHOW CONTINUOUS QUERIES', 'SHOW GRANTS FOR u']) {
    expect((await other.query(q, { db: 'd' })).json).toEqual(
      (await service.query(q, { db: 'd' })).json,
    );
  }
  await other.write('m,t=c f=5 5', { db: 'd' });
  await other.stop();
  other = await startTestService({ directory: other.directory });
  expect(await valuesOf(other, 'SELECT count(f) FROM m', 'd')).toEqual([[0, 3]]);
});

test('documents come back with their versions, and those that are there stay', async () => {
  const put = (to: TestService, id: string, version: number, content: string) =>
    to.get(`/api/documents?kind=dashboards&id=${id}&version=${version}`, {
      method: 'PUT',
      body: JSON.stringify({ title: id, content }),
    });
  await put(service, 'house', 0, 'first');
  await put(service, 'house', 1, 'second');
  await put(service, 'shared', 0, 'of the backup');
  const full = await backUp('all');
  const { manifest, segments } = await describeBackup(full);
  await put(service, 'late', 0, 'of the second backup');
  const since = { storageId: manifest.storageId, segments };
  const next = await backUp('next', { since });
  const one = await backUp('one', { databases: ['e'] });
  other = await startTestService();
  await put(other, 'shared', 0, 'was there');

  const single = await restore(other, [full], { database: 'e', as: 'copy' });
  const whole = await restore(other, [full, next]);
  const ofOne = await restore(other, [one], { database: 'e', as: 'copy2' });

  expect([single, whole, ofOne].map(({ status, json }) => [status, json.documents])).toEqual([
    [200, 0],
    [200, 2],
    [200, 0],
  ]);
  const get = async (search: string) =>
    (await other!.get(`/api/documents?kind=dashboards&${search}`)).json;
  expect((await get('')).documents.map(({ id }: { id: string }) => id)).toEqual([
    'house',
    'late',
    'shared',
  ]);
  expect((await get('id=house&version=1')).content).toBe('first');
  expect((await get('id=shared')).content).toBe('was there');
  expect(existsSync(join(other.directory, 'tsdb', 'meta', 'documents.arriving'))).toBe(false);
});

test('several backups are restored as they are, the newest first', async () => {
  const full = await backUp('full');
  const { manifest, segments } = await describeBackup(full);
  await service.write('m,t=c f=5 5', { db: 'd' });
  const next = await backUp('next', { since: { storageId: manifest.storageId, segments } });
  other = await startTestService();

  const { json } = await other.get('/api/restore', { method: 'POST' });
  const id = `/api/restore?id=${json.id}`;
  for (const file of [next, full]) {
    const sent = await other.get(id, { method: 'PUT', body: new Uint8Array(readFileSync(file)) });
    expect(sent.status, sent.text).toBe(204);
  }
  expect((await other.get(id, { method: 'POST' })).status).toBe(200);

  expect(await valuesOf(other, 'SELECT f FROM m', 'd')).toHaveLength(3);
});

test('one database comes back under another name beside the first', async () => {
  const file = await backUp('one', { databases: ['d'] });
  await service.query('DELETE FROM m', { db: 'd' });

  const refused = await restore(service, [file]);
  const { status, json } = await restore(service, [file], { database: 'd', as: 'old' });

  expect([refused.status, refused.json.error]).toEqual([
    409,
    'database d exists already: drop it first, or restore the one of the backup under another name',
  ]);
  expect([status, json.databases, json.leftOut]).toEqual([
    200,
    ['old'],
    ['continuous query c: its statement names d'],
  ]);
  expect(await valuesOf(service, 'SELECT f FROM m', 'old')).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(await valuesOf(service, 'SELECT f FROM "long".m', 'old')).toEqual([[3, 3]]);
  expect(await valuesOf(service, 'SELECT f FROM m', 'd')).toBeUndefined();
  expect((await describeBackup(file)).manifest.databases.map(({ name }) => name)).toEqual(['d']);
});

test('an incremental backup after a full one holds what is new, for a range of times', async () => {
  const full = await backUp('full');
  await service.write(`m,t=c f=5 ${10n ** 18n}`, { db: 'd' });
  const { manifest, segments } = await describeBackup(full);
  const since = { storageId: manifest.storageId, segments };

  const next = await backUp('next', { since });
  const early = await backUp('early', { end: '1971-01-01T00:00:00Z' });

  expect((await describeBackup(next)).includes).toHaveLength(1);
  other = await startTestService();
  expect((await restore(other, [full, next])).status).toBe(200);
  expect(await valuesOf(other, 'SELECT f FROM m', 'd')).toHaveLength(3);
  expect((await describeBackup(early)).manifest.shards).toHaveLength(3);
});

test('a request for a backup that makes no sense is refused with a sentence', async () => {
  const requests: readonly (readonly [body: string, status: number, text: RegExp])[] = [
    ['{', 400, /^the body must be JSON/],
    ['{"databases":[]}', 400, /^the body must be JSON/],
    ['{"start":"yesterday"}', 400, /^start must be a time/],
    ['{"start":"2020-01-02T00:00:00Z","end":"2020-01-01T00:00:00Z"}', 400, /^start is after end/],
    ['{"databases":["none"]}', 404, /^database not found: none/],
    ['{"since":{"storageId":"x","segments":[]}}', 400, /not one of this database/],
  ];
  for (const [body, status, text] of requests) {
    const answer = await service.get('/api/backup', { method: 'POST', body });
    expect([answer.status, answer.json.error]).toEqual([status, expect.stringMatching(text)]);
  }
});

test('a restore of nonsense, of half a backup or of what is not in it changes nothing', async () => {
  const file = await backUp('all');
  const at = async (id: string, init: RequestInit) =>
    service.get(`/api/restore?id=${id}`, { method: 'PUT', ...init });
  const open = async () =>
    (await service.get('/api/restore', { method: 'POST' })).json.id as string;

  const missing = await restore(service, [file], { database: 'none', as: 'x' });
  const unnamed = await restore(service, [file], { as: 'x' });
  const nonsense = await at(await open(), { body: 'x'.repeat(100) });
  const half = await open();
  const busy = await service.get('/api/restore', { method: 'POST' });
  const unfinished = await service.get(`/api/restore?id=${half}`, { method: 'POST' });
  const gone = await at(half, { body: 'x' });

  expect([missing.status, missing.json.error]).toEqual([
    404,
    'the backup has no database none; it has: d, e',
  ]);
  expect([unnamed.status, nonsense.status, busy.status]).toEqual([400, 400, 409]);
  expect(nonsense.json.error).toContain('not a backup');
  expect([unfinished.status, unfinished.json.error]).toEqual([
    400,
    expect.stringContaining('cut off'),
  ]);
  expect(gone.status).toBe(404);
  const names = await valuesOf(service, 'SHOW DATABASES', '');
  expect(names).toEqual([['d'], ['e']]);
});

test('a restore whose client stays away is ended and does not hinder the next', async () => {
  const file = await backUp('one', { databases: ['e'] });
  const clock = new TestClock(1_600_000_000_000_000_000n);
  other = await startTestService({ clock });
  const first = await other.get('/api/restore', { method: 'POST' });

  clock.advance(LIMITS.restoreIdleMs.value);
  const late = await other.get(`/api/restore?id=${first.json.id}`, { method: 'POST' });
  const { status } = await restore(other, [file]);

  expect([late.status, status]).toEqual([404, 200]);
});

test('a service that has points but no catalog refuses to start, and loses nothing by it', async () => {
  const { directory: data } = service;
  const meta = join(data, 'tsdb', 'meta');
  await service.stop();
  renameSync(meta, join(data, 'elsewhere'));

  await expect(startTestService({ directory: data })).rejects.toThrow(
    /^there is data \(.*\) but no catalog in .*: put the catalog back/,
  );
  rmSync(meta, { recursive: true });
  renameSync(join(data, 'elsewhere'), meta);
  service = await startTestService({ directory: data });

  expect(await valuesOf(service, 'SELECT f FROM m', 'd')).toHaveLength(2);
});
