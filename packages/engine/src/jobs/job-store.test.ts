// When the end of a job becomes visible.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '@tidemark/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Metadata } from '../store/metadata.ts';
import type { RecordingRecord } from '../store/records.ts';
import { JobStore } from './job-store.ts';

let directory: string;
let metadata: Metadata;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'job-store-test-'));
  metadata = await Metadata.open(directory);
});

afterEach(async () => {
  await metadata.close();
  rmSync(directory, { recursive: true });
});

test('the end of a job is seen only when it is on disk', async () => {
  const table = metadata.table<RecordingRecord>('recordings');
  const store = new JobStore(table, systemClock(), {
    kind: 'recording',
    runningMax: 1,
    redact: (text) => text,
  });
  const date = '2026-01-01T00:00:00Z';
  const record: RecordingRecord = {
    id: 'r',
    type: 'stream',
    sizeBytes: 0,
    date,
    error: '',
    status: 'running',
    progress: 0,
  };
  await store.start(record, async () => ({ sizeBytes: 7 }));

  while (store.get('r')?.status === 'running') await nextTurn();

  expect(table.get('r')).toMatchObject({ status: 'finished', sizeBytes: 7 });
  expect(store.get('r')).toEqual(table.get('r'));
});

test('the error of a job is stored without secrets', async () => {
  const table = metadata.table<RecordingRecord>('recordings');
  const redact = (text: string): string => text.replace('hush', '[REDACTED]');
  const store = new JobStore(table, systemClock(), { kind: 'recording', runningMax: 1, redact });
  const record = {
    id: 'r',
    type: 'stream',
    sizeBytes: 0,
    date: '',
    error: '',
    progress: 0,
  } as const;
  await store.start({ ...record, status: 'running' }, () => Promise.reject(new Error('no hush')));

  while (store.get('r')?.status === 'running') await nextTurn();

  expect(table.get('r')).toMatchObject({ status: 'failed', error: 'no [REDACTED]' });
});
