// Restoring a backup of the engine while it runs.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { TestEngine } from '@tidemark/testkit/engine';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { FORMAT_VERSION, METADATA_FILE } from './metadata-file.ts';
import type { Identity } from './metadata-file.ts';

const PATH = '/engine/v1/storage/restore';
const SMTP = { set: { password: 'secret-word', from: 'a@b' } };

let engine: TestEngine;
let others: TestEngine[];

beforeEach(async () => {
  others = [];
  engine = new TestEngine();
  await engine.start();
});

afterEach(async () => {
  for (const one of [engine, ...others]) await one.close();
});

const task = (id: string) => ({
  id,
  script: `stream|from().measurement('m')|httpOut('out')`,
  dbrps: [{ db: 'd', rp: 'r' }],
  status: 'enabled',
});

const document = (id: string) => `/engine/v1/documents?kind=dashboards&id=${id}&version=0`;

async function backup(of: TestEngine): Promise<Buffer> {
  return (await of.call('GET', '/engine/v1/storage/backup')).bytes;
}

/** Uploads in pieces; the last answer. */
async function restore(to: TestEngine, bytes: Uint8Array) {
  const begun = await to.call('POST', PATH);
  expect(begun.status).toBe(201);
  const id = `?id=${begun.json.id}`;
  const half = Math.ceil(bytes.length / 2);
  for (const piece of [bytes.subarray(0, half), bytes.subarray(half)]) {
    const sent = await fetch(`${to.url}${PATH}${id}`, {
      method: 'PUT',
      body: new Uint8Array(piece),
    });
    expect(sent.status).toBe(204);
  }
  return to.call('POST', PATH + id);
}

/** A backup in which something else stands than what this engine has written. */
async function changed(
  bytes: Uint8Array,
  change: (root: RootDatabase) => Promise<unknown>,
): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-changed-'));
  try {
    const file = join(directory, METADATA_FILE);
    writeFileSync(file, bytes);
    const root = open({ path: file, noSubdir: true, maxDbs: 32, overlappingSync: false });
    await change(root);
    await root.close();
    return readFileSync(file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** As a newer version would write it. */
const ofNewerVersion = (bytes: Uint8Array): Promise<Buffer> =>
  changed(bytes, async (root) => {
    const identities = root.openDB<Identity, string>({ name: 'identity', encoding: 'json' });
    const identity = identities.get('engine');
    if (identity === undefined) throw new Error('the backup has no identity');
    await identities.put('engine', { ...identity, formatVersion: FORMAT_VERSION + 1 });
  });

/** Whole to look at, but no engine starts on an event that is none. */
const withoutEvent = (bytes: Uint8Array): Promise<Buffer> =>
  changed(bytes, (root) =>
    root.openDB({ name: 'topic-events', encoding: 'json' }).put(['topic', 'event'], null),
  );

const stateOf = async (of: TestEngine): Promise<unknown> => {
  // While it restarts nobody answers.
  const answer = await of.call('GET', PATH).catch(() => undefined);
  return answer?.json.state;
};

const tasksOf = async (of: TestEngine): Promise<readonly string[]> => {
  const { json } = await of.call('GET', '/engine/v1/tasks');
  return json.tasks.map(({ id }: { id: string }) => id);
};

test('tasks, configuration and documents come back where the engine answered before', async () => {
  await engine.call('POST', '/engine/v1/tasks', task('kept'));
  await engine.call('POST', '/engine/v1/config/smtp/', SMTP);
  await engine.call('PUT', document('house'), { title: 'House', content: {} });
  const bytes = await backup(engine);
  await engine.call('DELETE', '/engine/v1/tasks/kept');
  await engine.call('POST', '/engine/v1/tasks', task('later'));
  await engine.call('POST', '/engine/v1/config/smtp/', { delete: ['password', 'from'] });
  await engine.call('DELETE', document('house').replace('version=0', 'version=1'));
  const { url } = engine;
  expect(await stateOf(engine)).toBe('none');

  const answer = await restore(engine, bytes);

  expect([answer.status, answer.json]).toMatchObject([
    202,
    { state: 'restarting', entries: { tasks: 1, documents: 1 } },
  ]);
  await expect.poll(() => stateOf(engine), { timeout: 20_000 }).toBe('done');
  expect(engine.url).toBe(url);
  expect(await tasksOf(engine)).toEqual(['kept']);
  const { json } = await engine.call('GET', '/engine/v1/tasks/kept');
  expect(json.executing).toBe(true);
  const smtp = await engine.call('GET', '/engine/v1/config/smtp/');
  expect(smtp.json.options).toMatchObject({ from: 'a@b', password: true });
  expect((await engine.call('GET', document('house').replace('&version=0', ''))).status).toBe(200);
  // It stays so.
  await engine.stop();
  await engine.start();
  expect(await tasksOf(engine)).toEqual(['kept']);
});

test('files that are no backup, damaged, newer or have another key are refused, and nothing changes', async () => {
  await engine.call('POST', '/engine/v1/tasks', task('own'));
  const other = new TestEngine();
  others.push(other);
  await other.start();
  const bytes = await backup(engine);
  const files = () => readdirSync(engine.directory).toSorted();
  const before = files();
  const cases: readonly (readonly [Uint8Array, RegExp])[] = [
    [Buffer.from('nonsense'), /not a backup of a task engine/],
    [bytes.subarray(0, Math.floor(bytes.length / 2)), /not a backup of a task engine/],
    [await backup(other), /made with another engine.key/],
    [await ofNewerVersion(bytes), /made by a newer version: it has format 3.* reads up to 2$/],
  ];
  for (const [sent, message] of cases) {
    const answer = await restore(engine, sent);
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(message)]);
  }
  const begun = await engine.call('POST', PATH);
  expect((await engine.call('DELETE', `${PATH}?id=${begun.json.id}`)).status).toBe(204);
  expect((await engine.call('POST', `${PATH}?id=${begun.json.id}`)).status).toBe(404);
  expect(await stateOf(engine)).toBe('none');
  expect(files()).toEqual(before);
  expect(await tasksOf(engine)).toEqual(['own']);
});

test('an engine that does not start with a backup goes on with what it had', async () => {
  const bytes = await backup(engine);
  await engine.call('POST', '/engine/v1/tasks', task('own'));
  const broken = await withoutEvent(bytes);

  expect((await restore(engine, broken)).status).toBe(202);
  await expect.poll(() => stateOf(engine), { timeout: 20_000 }).toBe('failed');

  expect(await tasksOf(engine)).toEqual(['own']);
  const { json } = await engine.call('GET', PATH);
  expect(json.error).toMatch(/null/);
});
