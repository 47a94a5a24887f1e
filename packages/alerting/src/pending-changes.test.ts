// A disk that temporarily refuses writes: events are kept in order until they can be written.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Unavailable } from '@tidemark/core';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AlertStore } from './alert-store.ts';
import type { TopicEvent } from './event.ts';
import { UNSTORED_BYTES } from './limits.ts';
import { lmdbEntries } from './testing/lmdb-entries.ts';

function event(id: string, level: 'OK' | 'CRITICAL', message = `${id} ${level}`): TopicEvent {
  return {
    id,
    message,
    details: '',
    time: 1n,
    durationNanos: 0n,
    level,
    previousLevel: 'OK',
    isRecoverable: true,
    data: [],
    topic: 't',
    hops: 0,
    context: { name: 'm', taskName: 'task', group: '', category: '', tags: {}, fields: {} },
  };
}

let directory: string;
let root: RootDatabase;
let clock: TestClock;
/** Changes that the disk does not accept. */
let refused: 'nothing' | 'values' | 'everything';
let logged: string[];
let store: AlertStore;

function openStore(): AlertStore {
  const entries = lmdbEntries(root);
  const commit: typeof entries.commit = async (changes) => {
    const hasValues = changes.some(({ value }) => value !== undefined);
    if (refused === 'everything' || (refused === 'values' && hasValues))
      throw new Unavailable('no space left');
    await entries.commit(changes);
  };
  const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
  return new AlertStore({ ...entries, commit }, { clock, log });
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pending-changes-'));
  root = open({
    path: join(directory, 'a.mdb'),
    noSubdir: true,
    maxDbs: 8,
    overlappingSync: false,
  });
  clock = new TestClock();
  refused = 'nothing';
  logged = [];
  store = openStore();
});

afterEach(async () => {
  await root.close();
  rmSync(directory, { recursive: true });
});

function collect(sent: TopicEvent, onStored?: () => void): ReturnType<AlertStore['collect']> {
  return store.collect({
    topic: 't',
    event: sent,
    cause: sent.cause,
    isPersistent: true,
    handlerKeys: ['t h'],
    onStored,
  });
}

/** The contents of the disk, as the next process reads them. */
function onDisk(): { readonly levels: string[]; readonly messages: string[] } {
  const later = openStore();
  return {
    levels: [...later.states()].map(({ id, state }) => `${id} ${state.level}`),
    messages: later.waiting('t h', 0, 1000).map(({ event: { message } }) => message),
  };
}

test('changes refused by a full disk are refused to callers, and written when there is room', async () => {
  const stored: string[] = [];
  refused = 'everything';
  const collected = collect(event('a', 'CRITICAL'), () => stored.push('a'));

  await expect(collected.stored).rejects.toThrow('no space left');
  await expect(store.stored).rejects.toThrow('no space left');
  expect(onDisk()).toEqual({ levels: [], messages: [] });
  refused = 'nothing';
  await store.stored;

  expect(onDisk()).toEqual({ levels: ['a CRITICAL'], messages: ['a CRITICAL'] });
  expect(stored).toEqual(['a']);
  expect(store.stored).toBeUndefined();
  expect(logged).toEqual([
    'error: failed to store events; will be retried',
    'info: events are stored again',
  ]);
});

test('the cause of an event is stored with it, or neither is', async () => {
  const caused = (id: string, record: number): TopicEvent => ({
    ...event(id, 'CRITICAL'),
    cause: { unit: 'cpu', record, row: 0 },
  });
  const causes = (): readonly number[] => [...openStore().causes()].map(({ record }) => record);
  await collect(caused('a', 1)).stored;
  refused = 'everything';
  await expect(collect(caused('b', 2)).stored).rejects.toThrow('no space left');
  expect([causes(), onDisk().messages]).toEqual([[1], ['a CRITICAL']]);
  refused = 'nothing';
  const later = [collect(caused('c', 3)), collect(caused('d', 4))];
  await Promise.all(later.map(({ stored }) => stored));

  expect(causes()).toEqual([4]);
  expect(onDisk().messages).toEqual(['a CRITICAL', 'b CRITICAL', 'c CRITICAL', 'd CRITICAL']);
});

test('it is written when nobody asks and nothing else happens, too', async () => {
  refused = 'everything';
  const stored = new Promise<void>((resolve) => {
    collect(event('a', 'CRITICAL'), resolve).stored.catch(() => undefined);
  });
  await expect(store.stored).rejects.toThrow('no space left');
  clock.wakeAll();
  await expect(store.stored).rejects.toThrow('no space left');
  refused = 'nothing';

  clock.wakeAll();
  await stored;

  expect(onDisk().levels).toEqual(['a CRITICAL']);
});

test('the newest state of an event wins, delivered events leave, the others keep their order', async () => {
  refused = 'everything';
  const first = collect(event('a', 'CRITICAL'));
  await expect(first.stored).rejects.toThrow('no space left');
  const second = collect(event('a', 'OK'));
  await expect(second.stored).rejects.toThrow('no space left');
  collect(event('b', 'CRITICAL')).stored.catch(() => undefined);
  store.remove(first.entries[0]!);
  await expect(store.stored).rejects.toThrow('no space left');

  // A handler whose queue in memory is full reads on from here.
  expect(store.waitingCount('t h')).toBe(2);
  expect(store.waiting('t h', 0, 10).map(({ event: { message } }) => message)).toEqual([
    'a OK',
    'b CRITICAL',
  ]);
  expect([...store.handlerKeys('t ')]).toEqual(['t h']);
  refused = 'nothing';
  await store.stored;

  expect(onDisk()).toEqual({
    levels: ['a OK', 'b CRITICAL'],
    messages: ['a OK', 'b CRITICAL'],
  });
});

test('the removal of an entry that is on disk waits for the disk', async () => {
  const [entry] = collect(event('a', 'CRITICAL')).entries;
  await store.stored;
  refused = 'everything';
  store.remove(entry!);
  await expect(store.stored).rejects.toThrow('no space left');
  expect(store.waiting('t h', 0, 10)).toEqual([]);
  expect(store.waitingCount('t h')).toBe(0);
  refused = 'nothing';
  await store.stored;

  expect(onDisk().messages).toEqual([]);
});

test('entries deleted meanwhile do not come back', async () => {
  collect(event('a', 'CRITICAL')).stored.catch(() => undefined);
  await store.stored;
  refused = 'values';
  collect(event('b', 'CRITICAL')).stored.catch(() => undefined);
  await expect(store.stored).rejects.toThrow('no space left');
  await expect(store.rekey('t h', 't other')).rejects.toThrow(Unavailable);

  await store.deleteStates('t');
  await store.removeAll('t h');
  refused = 'nothing';
  await store.stored;

  expect(onDisk()).toEqual({ levels: [], messages: [] });
});

test('events beyond a limit are not kept in memory, and that is said', async () => {
  refused = 'everything';
  const text = 'x'.repeat(UNSTORED_BYTES.value / 8);
  for (let i = 0; i < 12; i++) {
    await expect(collect(event(`e${i}`, 'CRITICAL', text)).stored).rejects.toThrow('no space left');
  }
  refused = 'nothing';
  await store.stored;

  // Each event is there twice: as the state of its topic and for its handler.
  expect(onDisk().levels.length).toBeGreaterThanOrEqual(4);
  expect(onDisk().levels.length).toBeLessThan(8);
  expect(logged.filter((line) => line === 'error: failed to keep events in memory')).not.toEqual(
    [],
  );
});
