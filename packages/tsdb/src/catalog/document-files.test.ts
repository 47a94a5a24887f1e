import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { DocumentRecord } from '@tidemark/core';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { DocumentFiles } from './document-files.ts';

let folder: string;
let logged: string[];
let files: DocumentFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-documents-'));
  logged = [];
  files = new DocumentFiles(join(folder, 'documents'), (_level, message) => logged.push(message));
});
afterEach(() => rmSync(folder, { recursive: true }));

const record = (id: string): DocumentRecord => ({
  kind: 'dashboards',
  owner: '',
  id,
  versions: [{ version: 1, title: id, modified: '2024-01-01T00:00:00Z', by: '', content: [id] }],
});

test('a document is a file, which is replaced and removed', async () => {
  expect([...files.values()]).toEqual([]);
  await files.put('k', record('a'));
  await files.put('k', record('b'));
  expect(files.get('k')).toEqual(record('b'));
  expect(readdirSync(join(folder, 'documents'))).toEqual(['k.tdm']);
  await files.remove('k');
  expect([files.get('k'), ...files.values()]).toEqual([undefined]);
});

test('damage in one place costs nothing, and in both copies that document only', async () => {
  await files.put('half', record('half'));
  await files.put('gone', record('gone'));
  const damage = (key: string, offsets: (size: number) => readonly number[]): void => {
    const path = join(folder, 'documents', `${key}.tdm`);
    const bytes = readFileSync(path);
    for (const at of offsets(bytes.length)) bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };
  damage('half', () => [30]);
  damage('gone', (size) => [30, size / 2 + 30]);

  expect([...files.values()]).toEqual([record('half')]);
  expect(logged).toEqual(['a document cannot be read; its file is set aside']);
  expect(readdirSync(join(folder, 'documents'))).toEqual(['gone.tdm.damaged', 'half.tdm']);
});

test('a file that cannot be written is told with the reason', async () => {
  writeFileSync(join(folder, 'documents'), '');
  await expect(files.put('k', record('a'))).rejects.toThrow(
    /document cannot be written: .*documents/,
  );
});
