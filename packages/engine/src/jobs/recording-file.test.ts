// The file of a recording: errors of the disk reach the caller, and an abandoned file leaves
// nothing behind.
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { removeDirectory } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { readRecording, RecordingWriter } from './recording-file.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tidemark-recording-'));
});

afterEach(() => removeDirectory(directory));

// Random enough that compression does not keep it in one block.
function lineOf(index: number): string {
  const digits = ((index * 2654435761) % 4294967296).toString(36);
  return `cpu,host=${digits} value=${index}i ${index}`;
}

async function write(writer: RecordingWriter, points: number): Promise<void> {
  for (let index = 0; index < points; index++) {
    // oxlint-disable-next-line no-await-in-loop -- back-pressure
    await writer.point({ database: 'd', retentionPolicy: 'rp', line: lineOf(index) });
  }
}

test('a finished file gives back every point', async () => {
  const path = join(directory, 'r');
  const writer = new RecordingWriter(path, 'stream');
  await write(writer, 20_000);
  await writer.finish();

  const lines: string[] = [];
  for await (const entry of readRecording(path, () => undefined)) {
    if ('line' in entry) lines.push(entry.line);
  }
  expect(lines).toEqual(Array.from({ length: 20_000 }, (_, index) => lineOf(index)));
});

test('abandoning in the middle of writing removes the file and fails nobody', async () => {
  const writer = new RecordingWriter(join(directory, 'r'), 'stream');
  for (let index = 0; index < 50_000; index++) {
    void writer
      .point({ database: 'd', retentionPolicy: 'rp', line: lineOf(index) })
      ?.catch(() => undefined);
  }
  await writer.abandon();

  expect(await readdir(directory)).toEqual([]);
});

test('a file that cannot be written fails the writer, not the process', async () => {
  const writer = new RecordingWriter(join(directory, 'missing', 'r'), 'stream');

  await expect(write(writer, 200_000)).rejects.toThrow('ENOENT');
  expect(writer.failed.reason).toMatchObject({ code: 'ENOENT' });
  await expect(writer.finish()).rejects.toThrow('ENOENT');
});
