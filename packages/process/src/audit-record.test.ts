import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { AuditRecord, openAuditRecord, parseAuditQuestion } from './audit-record.ts';

let directory: string;
let errors: unknown[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-audit-'));
  errors = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (maxBytes = 1_000_000) =>
  new AuditRecord({
    directory: join(directory, 'audit'),
    maxBytes,
    onError: (error) => errors.push(error),
  });
const entry = (second: number, more: object = {}) => ({
  time: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
  event: 'statement',
  user: 'ann',
  address: '127.0.0.1',
  ...more,
});

test('keeps entries over a restart, newest first, and behind a line that was cut', async () => {
  const first = open();
  first.add(entry(1));
  first.add(entry(2, { user: 'bob', statement: 'DROP DATABASE House' }));
  await first.close();
  appendFileSync(join(directory, 'audit', 'changes.jsonl'), '{"time":"2026-01-01T00:0');

  const second = open();
  second.add(entry(3));
  expect((await second.read({ limit: 10 })).map(({ time }) => time.slice(17, 19))).toEqual([
    '03',
    '02',
    '01',
  ]);
  expect(await second.read({ limit: 10, text: 'house' })).toHaveLength(1);
  expect(await second.read({ limit: 10, user: 'ann', before: entry(3).time })).toEqual([entry(1)]);
  expect(await second.read({ limit: 1 })).toEqual([entry(3)]);
  await second.close();
  expect(errors).toEqual([]);
});

test('holds no more than it may: the oldest entries go', async () => {
  const record = open(4000);
  for (let i = 0; i < 60; i++) {
    record.add(entry(i, { note: 'x'.repeat(100) }));
    await record.written();
  }
  const files = readdirSync(join(directory, 'audit'));
  const size = files.reduce((sum, name) => sum + statSync(join(directory, 'audit', name)).size, 0);
  expect(size).toBeLessThanOrEqual(4000);
  const kept = await record.read({ limit: 100 });
  expect(kept[0]).toMatchObject(entry(59));
  expect(kept.length).toBeGreaterThan(8);
  expect(kept.length).toBeLessThan(30);
  await record.close();
});

test('refused requests do not push out executed ones', async () => {
  const record = open(4000);
  record.add(entry(0));
  for (let i = 1; i < 60; i++) {
    record.addRefusal(entry(i, { event: 'credentials refused', user: '' }));
    await record.written();
  }
  const kept = await record.read({ limit: 100 });
  expect(kept[0]).toMatchObject({ ...entry(59), event: 'credentials refused', user: '' });
  expect(kept.at(-1)).toEqual(entry(0));
  await record.close();
});

test('shortens what is too long to be read', async () => {
  const record = open();
  record.add(entry(1, { statement: 'y'.repeat(100_000) }));
  const [kept] = await record.read({ limit: 1 });
  expect(String(kept?.['statement']).length).toBeLessThan(5000);
  await record.close();
});

test('says what it could not keep', async () => {
  const record = open();
  rmSync(join(directory, 'audit'), { recursive: true });
  record.add(entry(1));
  await record.close();
  expect(errors).toHaveLength(1);
  const onError = (error: unknown) => errors.push(error);
  expect(openAuditRecord({ directory, maxBytes: 0, onError })).toBeUndefined();
  const impossible = join(directory, 'file', 'audit');
  writeFileSync(join(directory, 'file'), '');
  expect(openAuditRecord({ directory: impossible, maxBytes: 1, onError })).toBeUndefined();
  expect(errors).toHaveLength(2);
});

test('reads a question of a URL', () => {
  const of = (search: string) => {
    const parameters = new URLSearchParams(search);
    return parseAuditQuestion((name) => parameters.get(name) ?? '');
  };
  expect(of('')).toEqual({ limit: 100 });
  expect(of('limit=5000&user=ann&text=drop&before=2026')).toEqual({
    limit: 1000,
    user: 'ann',
    text: 'drop',
    before: '2026',
  });
  expect(() => of('limit=many')).toThrow('limit must be a number');
});
