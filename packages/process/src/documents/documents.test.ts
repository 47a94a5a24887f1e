import { DOCUMENT_LIMITS, NotFound, StaleVersion, systemClock } from '@tidemark/core';
import type { DocumentRecord, DocumentRecords } from '@tidemark/core';
import { beforeEach, expect, test } from 'vitest';

import { Documents } from './documents.ts';
import type { DocumentName } from './documents.ts';
import { LocalDocuments } from './local-documents.ts';

/** Records in memory, as bytes: what is read again is what was written. */
class MemoryRecords implements DocumentRecords {
  readonly #texts = new Map<string, string>();
  isFull = false;

  *values(): Iterable<DocumentRecord> {
    for (const text of this.#texts.values()) yield JSON.parse(text) as DocumentRecord;
  }

  get(key: string): DocumentRecord | undefined {
    const text = this.#texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as DocumentRecord);
  }

  async put(key: string, record: DocumentRecord): Promise<void> {
    if (this.isFull) throw new Error('no room');
    this.#texts.set(key, JSON.stringify(record));
  }

  async remove(key: string): Promise<void> {
    this.#texts.delete(key);
  }
}

let records: MemoryRecords;
let documents: Documents;
beforeEach(() => {
  records = new MemoryRecords();
  documents = new Documents(new LocalDocuments(records), systemClock());
});

const name = (id: string, user = ''): DocumentName => ({ kind: 'dashboards', id, user });
const query = (id: string, user: string): DocumentName => ({ kind: 'queries', id, user });
const put = (of: DocumentName, replaces: number, content: unknown = {}) =>
  documents.put(of, { replaces, title: `${of.id} ${replaces + 1}`, content });

test('each change is a version, and older ones are kept', async () => {
  await put(name('a', 'ann'), 0, { cells: 1 });
  await put(name('a', 'bob'), 1, { cells: 2 });

  const now = await documents.get(name('a'));
  expect(now).toMatchObject({ version: 2, title: 'a 2', by: 'bob', content: { cells: 2 } });
  expect(now.versions.map(({ version, by }) => [version, by])).toEqual([
    [2, 'bob'],
    [1, 'ann'],
  ]);
  expect((await documents.get(name('a'), 1)).content).toEqual({ cells: 1 });
  await expect(documents.get(name('a'), 3)).rejects.toThrow(NotFound);
});

test('lists show folder and tags of the content, and nothing else that has their names', async () => {
  await put(name('a'), 0, { folder: 'Servers', tags: ['linux', 7, ''], cells: [] });
  await put(name('b'), 0, { folder: { name: 'x' }, tags: 'linux' });

  const [a, b] = documents.list('dashboards', '');
  expect(a).toMatchObject({ folder: 'Servers', tags: ['linux'] });
  expect(a).not.toHaveProperty('cells');
  expect(b).not.toHaveProperty('folder');
  expect(b).not.toHaveProperty('tags');
});

test('a client that has not seen the last version changes nothing', async () => {
  await put(name('a', 'ann'), 0);
  await put(name('a', 'bob'), 1, 'of bob');

  const late = [put(name('a'), 1), put(name('a'), 0), documents.remove(name('a'), 1)];
  for (const each of late) await expect(each).rejects.toThrow(StaleVersion);
  await expect(put(name('a'), 1)).rejects.toThrow('changed meanwhile by bob: it is at version 2');
  expect((await documents.get(name('a'))).content).toBe('of bob');
});

test('one of two changes at once is made', async () => {
  await put(name('a'), 0);
  const both = await Promise.allSettled([put(name('a'), 1, 'x'), put(name('a'), 1, 'y')]);
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await documents.get(name('a'))).toMatchObject({ version: 2, content: 'x' });
});

test('a removed document is gone with its versions, and can be stored again', async () => {
  await put(name('a'), 0, 'old');
  await documents.remove(name('a'), 1);
  expect(documents.list('dashboards', '')).toEqual([]);
  await expect(put(name('a'), 1)).rejects.toThrow('was deleted meanwhile');
  await put(name('a'), 0, 'new');
  expect((await documents.get(name('a'))).versions).toHaveLength(1);
});

test('personal documents are seen by their user only, the others by all', async () => {
  await put(query('q', 'ann'), 0, 'of ann');
  await put(query('q', 'bob'), 0, 'of bob');
  await put(name('d', 'ann'), 0);
  expect((await documents.get(query('q', 'bob'))).content).toBe('of bob');
  expect(documents.list('queries', 'ann').map(({ by }) => by)).toEqual(['ann']);
  await expect(documents.get(query('q', 'eve'))).rejects.toThrow(NotFound);
  expect(documents.list('dashboards', 'eve')).toHaveLength(1);
});

test('a change that could not be stored did not happen', async () => {
  await put(name('a'), 0, 'old');
  records.isFull = true;
  await expect(put(name('a'), 1, 'new')).rejects.toThrow('no room');
  records.isFull = false;
  expect(documents.list('dashboards', '')).toMatchObject([{ version: 1 }]);
  expect(await put(name('a'), 1, 'new')).toMatchObject({ version: 2 });
});

test('stored documents are listed by title after they are read again', async () => {
  await put(name('b'), 0);
  await put(name('a'), 0);
  const again = new Documents(new LocalDocuments(records), systemClock());
  expect(again.list('dashboards', '').map(({ id }) => id)).toEqual(['a', 'b']);
  expect(again.list('dashboards', '')).toEqual(documents.list('dashboards', ''));
});

test('old versions make room, by their number and by their size', async () => {
  const { versionCount, versionsBytes, documentBytes } = DOCUMENT_LIMITS;
  for (let i = 0; i < versionCount.value + 2; i++) await put(name('many'), i);
  const many = (await documents.get(name('many'))).versions;
  expect([many.length, many[0]?.version]).toEqual([versionCount.value, versionCount.value + 2]);

  const large = 'x'.repeat(documentBytes.value - 100);
  for (let i = 0; i < 6; i++) await put(name('large'), i, large);
  const kept = (await documents.get(name('large'))).versions.length;
  expect(kept).toBe(Math.floor(versionsBytes.value / large.length));
});

test('documents of a backup are added with their versions, and present ones stay', async () => {
  await put(name('mine', 'ann'), 0, 'old');
  await put(name('mine', 'ann'), 1, 'new');
  await put(query('q', 'ann'), 0, 'of ann');
  const other = new Documents(new LocalDocuments(new MemoryRecords()), systemClock());
  await other.put(query('q', 'ann'), { replaces: 0, title: 'there', content: 'stays' });

  const added: boolean[] = [];
  for (const record of records.values()) added.push(await other.adopt(record));

  expect(added).toEqual([true, false]);
  expect(other.list('dashboards', '')).toEqual(documents.list('dashboards', ''));
  expect((await other.get(name('mine'), 1)).content).toBe('old');
  expect((await other.get(query('q', 'ann'))).content).toBe('stays');
});
