// Secrets on disk: encrypted with a key that is created, configured, missing, or different; older
// stores are encrypted at the first start.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreCipher } from './store-cipher.ts';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];
const SECRETS = ['pw-of-script', 'pw-of-var', 'pw-of-handler', 'pw-of-config'];

let engine: TestEngine;
const file = (name: string): string => join(engine.directory, name);

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

/** Puts secrets everywhere where clients can put them. */
async function define(): Promise<void> {
  const script = "var v = 'x'\n// pw-of-script\nstream|from()";
  const task = {
    id: 't',
    dbrps: DBRPS,
    script,
    vars: { v: { type: 'string', value: SECRETS[1] } },
  };
  const options = { url: 'http://127.0.0.1:9', headers: { Authorization: SECRETS[2] } };
  for (const [path, body] of [
    ['/engine/v1/tasks', task],
    ['/engine/v1preview/alerts/topics/t/handlers', { id: 'h', kind: 'post', options }],
    ['/engine/v1/config/smtp/', { set: { password: SECRETS[3] } }],
  ] as const) {
    expect((await engine.call('POST', path, body)).status).toBe(200);
  }
}

async function script(): Promise<unknown> {
  return (await engine.call('GET', '/engine/v1/tasks/t?script-format=raw')).json.script;
}

const stored = (): readonly boolean[] => {
  const text = readFileSync(file('engine.mdb'), 'latin1');
  return SECRETS.map((secret) => text.includes(secret));
};

test('a sealed text is opened by its key at its place, and by nothing else', () => {
  const cipher = new StoreCipher('a'.repeat(32));
  const sealed = cipher.seal('here', 'secret');

  expect(cipher.open('here', sealed)).toBe('secret');
  expect(cipher.seal('here', 'secret')).not.toBe(sealed);
  expect(JSON.parse(sealed)).toMatch(/^enc1:/);
  expect(() => cipher.open('there', sealed)).toThrow('cannot be decrypted');
  expect(() => new StoreCipher('b'.repeat(32)).open('here', sealed)).toThrow('cannot be');
  expect(() => cipher.open('here', `${sealed.slice(0, -4)}AA"`)).toThrow('cannot be decrypted');
  expect(() => cipher.open('here', '"enc1:"')).toThrow('cannot be decrypted');
});

test('secrets are not in the file, nor in the backup, and the files are those of their user', async () => {
  await engine.start();
  await define();
  const { bytes } = await engine.call('GET', '/engine/v1/storage/backup');
  await engine.stop();

  expect(stored()).toEqual([false, false, false, false]);
  for (const secret of SECRETS) expect(bytes.includes(secret)).toBe(false);
  const modes = ['', 'engine.mdb', 'engine.mdb-lock', 'engine.key', 'engine-owner.json'].map(
    (name) => statSync(file(name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
  await engine.start();
  expect(await script()).toContain('pw-of-script');
});

test('a store of an earlier version is sealed at the start, without a trace of what was there', async () => {
  await engine.start();
  await engine.stop();
  // As it was written: values as they are, no key.
  const root = open({ path: file('engine.mdb'), noSubdir: true, maxDbs: 32, encoding: 'json' });
  const identities = root.openDB<object, string>({ name: 'identity', encoding: 'json' });
  const { keyCheck: _, ...identity } = identities.get('engine') as { keyCheck: string };
  await identities.put('engine', { ...identity, formatVersion: 1 });
  const action = { kind: 'post', options: { url: `http://127.0.0.1:9/${SECRETS[2]}` } };
  const handler = { id: 'h', form: 'actions', actions: [action], match: '' };
  await root
    .openDB<object, string[]>({ name: 'handler-specs', encoding: 'json' })
    .put(['t', 'h'], handler);
  await root.close();
  rmSync(file('engine.key'));
  expect(stored()).toEqual([false, false, true, false]);

  await engine.start();
  const handlers = await engine.call('GET', '/engine/v1preview/alerts/topics/t/handlers/h');
  await engine.stop();

  expect(handlers.json).toMatchObject({ id: 'h' });
  expect(stored()).toEqual([false, false, false, false]);
  await engine.start();
  expect((await engine.call('GET', '/engine/v1preview/alerts/topics/t/handlers/h')).status).toBe(
    200,
  );
});

test('the key may come from a file elsewhere or from the environment', async () => {
  const values = { 'secrets-key': 'env:ENGINE_KEY' };
  const environment = { ENGINE_KEY: 'k'.repeat(32) };
  await engine.start(values, { environment });
  await define();
  await engine.stop();
  expect(existsSync(file('engine.key'))).toBe(false);

  writeFileSync(file('elsewhere'), `${'k'.repeat(32)}\n`);
  await engine.start({ 'secrets-key': file('elsewhere') });
  expect(await script()).toContain('pw-of-script');
});

test('without the key, with another or with a short one the start is refused with what to do', async () => {
  await engine.start();
  await define();
  await engine.stop();
  const key = readFileSync(file('engine.key'), 'utf8');

  rmSync(file('engine.key'));
  await expect(engine.start()).rejects.toThrow(
    /the key of the stored secrets is missing: .*engine\.key/,
  );
  writeFileSync(file('engine.key'), 'o'.repeat(64));
  await expect(engine.start()).rejects.toThrow('was written with another key');
  writeFileSync(file('engine.key'), 'short');
  await expect(engine.start()).rejects.toThrow('at least 32 characters');
  writeFileSync(file('engine.key'), key);
  await engine.start();

  expect(await script()).toContain('pw-of-script');
});

test('a metadata file that is gone is no new one', async () => {
  await engine.start();
  await define();
  await engine.stop();
  rmSync(file('engine.mdb'));

  await expect(engine.start()).rejects.toThrow(
    /engine\.mdb is missing .* restore it from a backup, or start once with --start-empty true/,
  );
  for (const name of ['engine.mdb-lock', 'engine.key']) rmSync(file(name));
  await engine.start();
  expect((await engine.call('GET', '/engine/v1/tasks')).json).toEqual({ tasks: [] });
});
