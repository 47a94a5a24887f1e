// What a single engine has stored, as entries that another engine can store: values with secrets
// open, so that they can be sealed with another key.
import type { Database } from 'lmdb';
import { placeOf, SEALED_TABLES } from '../store/metadata.ts';
import type { Metadata, StoreKey } from '../store/metadata.ts';
import { isSealed } from '../store/store-cipher.ts';

export type StoreEntry = {
  readonly table: string;
  readonly key: StoreKey;
  readonly value: Buffer;
};

/** Tables with what users define and what follows from it, in the order in which they are told. */
export const JOINED_TABLES = {
  templates: 'template',
  tasks: 'task',
  'task-versions': undefined,
  snapshots: undefined,
  'handler-specs': 'handler',
  'topic-events': 'event',
  outbox: undefined,
  'dead-letters': undefined,
  'alert-history': undefined,
  overrides: 'override of the configuration',
  documents: 'document',
  recordings: 'recording',
  replays: 'replay',
} as const satisfies Readonly<Record<string, string | undefined>>;

export type JoinedTable = keyof typeof JOINED_TABLES;

export function tableOf({ root }: Metadata, name: string): Database<Buffer, StoreKey> {
  return root.openDB<Buffer, StoreKey>({ name, encoding: 'binary' });
}

/** Entries of a table, values open. */
export function* openEntries(metadata: Metadata, table: JoinedTable): Iterable<StoreEntry> {
  for (const { key, value } of tableOf(metadata, table).getRange())
    yield { table, key, value: opened(metadata, { table, key, value }) };
}

/** A value as it is stored, open. */
export function opened(metadata: Metadata, { table, key, value }: StoreEntry): Buffer {
  const text = SEALED_TABLES.includes(table) ? value.toString('utf8') : '';
  if (!isSealed(text)) return Buffer.from(value);
  return Buffer.from(metadata.cipher.open(placeOf(table, key), text));
}

/** An open value as it is stored. */
export function closed(metadata: Metadata, { table, key, value }: StoreEntry): Buffer {
  if (!SEALED_TABLES.includes(table)) return value;
  return Buffer.from(metadata.cipher.seal(placeOf(table, key), value.toString('utf8')));
}
