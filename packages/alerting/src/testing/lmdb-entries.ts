// The tables of alerting in an LMDB file, for tests.
import type { Database, RootDatabase } from 'lmdb';
import type { AlertEntries, EntryKey, EntryTable, TableEntry } from '../alert-entries.ts';

export function lmdbEntries(root: RootDatabase): AlertEntries {
  const databases = new Map<string, Database<Buffer, EntryKey>>();
  const table = <K extends EntryKey>(name: string): EntryTable<K> => {
    const database = root.openDB<Buffer, EntryKey>({ name, encoding: 'binary' });
    databases.set(name, database);
    return {
      name,
      get: (key) => database.get(key),
      has: (key) => database.doesExist(key),
      keys: (range = {}) => database.getKeys(range) as Iterable<K>,
      range: (range = {}) =>
        database.getRange(range) as Iterable<{ readonly key: K; readonly value: Buffer }>,
      count: (range = {}) => database.getKeysCount(range),
    };
  };
  return {
    states: table('topic-events'),
    specs: table('handler-specs'),
    outbox: table('outbox'),
    letters: table('dead-letters'),
    causes: table('told-events'),
    origins: table('topic-origins'),
    commit: async (changes: readonly TableEntry[]) => {
      await root.batch(() => {
        for (const { table: name, key, value } of changes) {
          if (value === undefined) void databases.get(name)?.remove(key);
          else void databases.get(name)?.put(key, Buffer.from(value));
        }
      });
      await root.flushed;
    },
  };
}
