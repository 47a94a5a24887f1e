import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Corruption } from '@tidemark/core';
import { nodeDisk } from '@tidemark/storage';
import { open as openLmdb } from 'lmdb';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { replaceCatalog } from './catalog-file.ts';
import { Catalog } from './catalog.ts';
import {
  alterPolicy,
  createDatabase,
  createPolicy,
  dropDatabase,
  dropPolicy,
} from './databases.ts';
import { fillCatalog } from './fixture-data.ts';
import { EMPTY_CATALOG } from './model.ts';
import type { CatalogState } from './model.ts';
import { createToken } from './tokens.ts';
import { createContinuousQuery, createSubscription, dropSubscription } from './subscriptions.ts';
import { createUser, grant, hasRight, revoke, setAdmin } from './users.ts';

let directory: string;
const opened: Catalog[] = [];

async function open(): Promise<Catalog> {
  const catalog = await Catalog.open(directory);
  opened.push(catalog);
  return catalog;
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-catalog-'));
});
afterEach(async () => {
  for (const catalog of opened.splice(0)) await catalog.close();
  rmSync(directory, { recursive: true });
});

const database =
  (name: string) =>
  (state: CatalogState): CatalogState =>
    createDatabase(state, { name, hasOptions: false, options: {}, createsPolicy: true });

test('a change refused because the folder could not be synced is absent after a start', async () => {
  const disk = nodeDisk();
  let isBroken = false;
  const syncDirectory = (path: string): Promise<void> =>
    isBroken ? Promise.reject(new Error('EIO')) : disk.syncDirectory(path);
  const catalog = await Catalog.open(directory, { disk: { ...disk, syncDirectory } });
  opened.push(catalog);

  isBroken = true;
  await expect(catalog.change(database('first'))).rejects.toThrow('EIO');
  expect((await open()).state.databases.size).toBe(0);
  isBroken = false;
  await catalog.change(database('d'));
  expect(readdirSync(directory)).toEqual(['catalog.tdm', 'catalog.tdm.2']);
});

test('a change refused because its sync failed is absent after a start', async () => {
  const disk = nodeDisk();
  let isBroken = false;
  const catalog = await Catalog.open(directory, {
    disk: {
      ...disk,
      open: (path, mode) => {
        const file = disk.open(path, mode);
        const sync = (): Promise<void> =>
          isBroken ? Promise.reject(new Error('EIO')) : file.sync();
        return new Proxy(file, {
          get: (of, name) => {
            if (name === 'sync') return sync;
            const value: unknown = Reflect.get(of, name);
            return typeof value === 'function' ? value.bind(of) : value;
          },
        });
      },
    },
  });
  opened.push(catalog);
  await catalog.change(database('d'));

  isBroken = true;
  await expect(catalog.change((s) => dropDatabase(s, 'd'))).rejects.toThrow('EIO');

  expect([...catalog.state.databases.keys()]).toEqual(['d']);
  expect([...(await open()).state.databases.keys()]).toEqual(['d']);
  isBroken = false;
  await catalog.change(database('e'));
  expect([...(await open()).state.databases.keys()]).toEqual(['d', 'e']);
});

test('remembers everything after it is opened again', async () => {
  const first = await open();
  await first.change(database('d'));
  await first.change(database('e'.repeat(5000)));
  await first.change((s) =>
    createPolicy(s, {
      database: 'd',
      name: 'short',
      options: { durationNanos: 3_600_000_000_000n, isDefault: true, futureLimitNanos: 5n },
    }),
  );
  await first.change((s) =>
    createSubscription(s, {
      database: 'd',
      retentionPolicy: 'short',
      name: 's',
      mode: 'ANY',
      destinations: ['http://h:1', 'udp://h:2'],
    }),
  );
  await first.change((s) =>
    createContinuousQuery(s, 'd', { name: 'c', text: 'CREATE …', owner: 'u' }),
  );
  await first.change((s) => createUser(s, { name: 'u', passwordHash: 'x', isAdmin: false }));
  await first.change((s) => grant(s, { user: 'u', database: 'd', privilege: 'READ' }));
  await first.change((s) => createToken(s, { name: 't', userName: 'u', digest: 'x', now: 5n }));
  const before = first.state;
  await first.close();

  const second = await open();
  expect(second.state).toEqual(before);
  expect([first.isNew, second.isNew]).toEqual([true, false]);
});

test('never gives an id twice, not even after a drop and a restart', async () => {
  const first = await open();
  await first.change(database('d'));
  const oldId = first.state.databases.get('d')?.policies[0]?.id ?? 0;
  await first.change((s) => dropDatabase(s, 'd'));
  await first.close();

  const second = await open();
  await second.change(database('d'));
  expect(second.state.databases.get('d')?.policies[0]?.id).toBeGreaterThan(oldId);
});

test('applies changes that come at once one after the other, and a refused one changes nothing', async () => {
  const catalog = await open();
  const seen: number[] = [];
  catalog.onChange((state) => seen.push(state.databases.size));

  const results = await Promise.allSettled([
    catalog.change(database('a')),
    catalog.change(database('b/c')),
    catalog.change(database('b')),
    catalog.change(database('a')),
  ]);

  expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect([...catalog.state.databases.keys()]).toEqual(['a', 'b']);
  expect(seen).toEqual([1, 2]);
});

/** A catalog whose checkpoint has two databases, and whose journal has a user. */
async function closedCatalog(): Promise<Catalog> {
  const first = await open();
  await first.change(database('d'));
  await first.change(database('g'));
  await first.close();
  await replaceCatalog(directory, first.state);
  const second = await open();
  await second.change((s) => createUser(s, { name: 'u', passwordHash: 'x', isAdmin: true }));
  await second.close();
  return second;
}

test('a flipped bit anywhere, or a cut in the second half, costs nothing and is mended', async () => {
  const first = await closedCatalog();
  const file = join(directory, 'catalog.tdm');
  const sound = readFileSync(file);
  const isRead = async (bytes: Uint8Array): Promise<boolean> => {
    writeFileSync(file, bytes);
    const catalog = await open();
    expect(catalog.state).toEqual(first.state);
    return catalog.hasDamagedCopy;
  };

  for (let at = 0; at < sound.length; at++) {
    const flipped = Buffer.from(sound);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    expect(await isRead(flipped), `byte ${at}`).toBe(true);
    if (at >= sound.length / 2) expect(await isRead(sound.subarray(0, at))).toBe(true);
  }
  const mending = await open();
  await mending.change(database('e'));
  expect((await open()).hasDamagedCopy).toBe(false);
});

test('damage in the journal costs nothing, is found by verify, and is mended', async () => {
  const { state } = await closedCatalog();
  const file = join(directory, 'catalog.tdm.2');
  const bytes = readFileSync(file);
  bytes[60]! ^= 1;
  writeFileSync(file, bytes);

  const catalog = await open();
  const found = [catalog.state, catalog.hasDamagedCopy];
  await catalog.change(database('e'));

  expect(found).toEqual([state, true]);
  const again = await open();
  expect([again.state, again.hasDamagedCopy]).toEqual([catalog.state, false]);
});

test('a change that is damaged in both halves of the journal is not left out', async () => {
  await closedCatalog();
  const file = join(directory, 'catalog.tdm.2');
  const bytes = readFileSync(file);
  const half = 32 << 10;
  for (const at of [60, half + 60]) bytes[at]! ^= 1;
  writeFileSync(file, bytes);

  await expect(open()).rejects.toMatchObject({ file });
  rmSync(file);
  await expect(open()).rejects.toThrow('journal is missing');
});

test('a catalog that is damaged in both copies, or empty, is not taken for a new one', async () => {
  await closedCatalog();
  const file = join(directory, 'catalog.tdm');
  const sound = readFileSync(file);
  const twice = Buffer.from(sound);
  for (const at of [20, sound.length / 2 + 20]) twice[at] = (twice[at] ?? 0) ^ 1;

  for (const bytes of [twice, sound.subarray(0, 100), Buffer.alloc(0), Buffer.alloc(4096)]) {
    writeFileSync(file, bytes);
    await expect(open()).rejects.toThrow(Corruption);
  }
});

test.each(['v2', 'v3'])('the catalog of format version %s is read', async (version) => {
  const fixture = fileURLToPath(new URL(`../../fixtures/${version}`, import.meta.url));
  cpSync(fixture, directory, { recursive: true });

  const catalog = await open();

  expect(catalog.state).toEqual(fillCatalog());
  expect([catalog.isNew, catalog.hasDamagedCopy]).toEqual([false, false]);
});

test('a catalog of an earlier version is taken over', async () => {
  const store = openLmdb({ path: join(directory, 'catalog') });
  await store.put('meta', { formatVersion: 1, nextId: 7 });
  const record = { id: 2, name: 'd', policies: [], defaultPolicy: '', continuousQueries: [] };
  await store.put(['database', 2], record);
  await store.close();

  const first = await open();
  await first.close();
  rmSync(join(directory, 'catalog'), { recursive: true });
  const second = await open();

  expect([...second.state.databases.values()]).toEqual([record]);
  expect([first.state, second.isNew]).toEqual([second.state, false]);
});

test('closing lets changes that were asked for end, and refuses later ones', async () => {
  const first = await open();
  const change = first.change(database('d'));
  await first.close();
  await change;

  await expect(first.change(database('e'))).rejects.toThrow('the catalog is closed');
  expect([...(await open()).state.databases.keys()]).toEqual(['d']);
});

test('dropping a database takes its rights away', async () => {
  const catalog = await open();
  await catalog.change(database('d'));
  await catalog.change((s) => createUser(s, { name: 'u', passwordHash: 'x', isAdmin: false }));
  await catalog.change((s) => grant(s, { user: 'u', database: 'd', privilege: 'ALL' }));
  await catalog.change((s) => dropDatabase(s, 'd'));
  expect(catalog.state.users.get('u')?.grants).toEqual({});
});

test('rights are replaced by GRANT and taken apart by REVOKE', async () => {
  const catalog = await open();
  await catalog.change(database('d'));
  await catalog.change((s) => createUser(s, { name: 'u', passwordHash: 'x', isAdmin: false }));
  const rights = (): [boolean, boolean] => {
    const user = catalog.state.users.get('u');
    if (user === undefined) throw new Error('no user');
    return [hasRight(user, 'd', 'read'), hasRight(user, 'd', 'write')];
  };

  expect(rights()).toEqual([false, false]);
  await catalog.change((s) => grant(s, { user: 'u', database: 'd', privilege: 'READ' }));
  expect(rights()).toEqual([true, false]);
  await catalog.change((s) => grant(s, { user: 'u', database: 'd', privilege: 'WRITE' }));
  expect(rights()).toEqual([false, true]);
  await catalog.change((s) => grant(s, { user: 'u', database: 'd', privilege: 'ALL' }));
  await catalog.change((s) => revoke(s, { user: 'u', database: 'd', privilege: 'WRITE' }));
  expect(rights()).toEqual([true, false]);
  await catalog.change((s) => revoke(s, { user: 'u', database: 'd', privilege: 'READ' }));
  expect(catalog.state.users.get('u')?.grants).toEqual({ d: 'none' });
  await catalog.change((s) => setAdmin(s, 'u', true));
  expect(rights()).toEqual([true, true]);
});

const HOUR = 3_600_000_000_000n;

test.each([
  ['for ever', 0n, undefined, 168n * HOUR],
  ['an hour', HOUR, undefined, HOUR],
  ['just below two days', 48n * HOUR - 1n, undefined, HOUR],
  ['two days', 48n * HOUR, undefined, 24n * HOUR],
  ['180 days', 180n * 24n * HOUR, undefined, 168n * HOUR],
  ['ten days in groups that are too short', 240n * HOUR, 1n, HOUR],
  ['ten days in groups of its own', 240n * HOUR, (3n * HOUR) / 2n, (3n * HOUR) / 2n],
])('a policy of %s has the shard groups that fit', (_, durationNanos, shardDurationNanos, want) => {
  const made = createPolicy(database('d')(EMPTY_CATALOG), {
    database: 'd',
    name: 'p',
    options: { durationNanos, shardDurationNanos },
  });
  expect(made.databases.get('d')?.policies[1]?.shardDurationNanos).toBe(want);
});

test('a dropped default policy leaves its name behind', () => {
  let state = database('d')(EMPTY_CATALOG);
  state = dropPolicy(state, { database: 'd', name: 'autogen' });
  expect(state.databases.get('d')).toMatchObject({ policies: [], defaultPolicy: 'autogen' });
});

test('refuses what makes no sense', () => {
  const state = database('d')(EMPTY_CATALOG);
  const alter = (options: Parameters<typeof alterPolicy>[1]['options']) => () =>
    alterPolicy(state, { database: 'd', name: 'autogen', options });

  expect(alter({ durationNanos: 60n })).toThrow('must be at least 1h0m0s');
  expect(alter({ durationNanos: 2n * HOUR })).toThrow('greater than the shard duration');
  const place = { database: 'd', retentionPolicy: 'autogen' };
  for (const destinations of [['ftp://x:1'], ['nourl'], ['http://x'], ['udp://:1']]) {
    expect(() =>
      createSubscription(state, { ...place, name: 's', mode: 'ALL', destinations }),
    ).toThrow(`invalid subscription URL: ${destinations[0]}`);
  }
  expect(() => dropSubscription(state, { ...place, name: 'x' })).toThrow('subscription not found');
});
