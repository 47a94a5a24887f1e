import { deflateRawSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { faultOfChain, isFull, newestFirst, readBackupFile } from './backup-file.ts';

/** A backup's begin, as docs/formats/backup.md has it. */
function backup(options: {
  readonly version?: number;
  readonly storageId?: string;
  readonly sequence: number;
  readonly segments: readonly string[];
  readonly includes: readonly string[];
}): File {
  const { version = 3, storageId = 'here', sequence, segments, includes } = options;
  const body = JSON.stringify({ storageId, nextSequence: sequence, databases: [{ name: 'd' }] });
  const head = Buffer.alloc(16);
  head.write('TDMMAN');
  head.writeUInt32LE(body.length, 8);
  const manifest = Buffer.concat([head, Buffer.from(body)]).toString('base64');
  const json = JSON.stringify({ manifest, segments, includes });
  const payload = Buffer.concat([Buffer.of(0), deflateRawSync(json)]);
  const start = Buffer.alloc(28);
  start.write('TDMBAK');
  start.writeUInt16LE(version, 6);
  start.writeUInt32LE(payload.length, 20);
  return new File([start, payload, 'and more'], 'a.tdmbak');
}

const FULL = { sequence: 5, segments: ['1/1:9:a', '1/2:9:b'], includes: ['1/1:9:a', '1/2:9:b'] };
const NEXT = { sequence: 7, segments: ['1/2:9:b', '1/3:9:c'], includes: ['1/3:9:c'] };

test('a file says what it holds', async () => {
  const file = backup(FULL);
  expect(await readBackupFile(file)).toEqual({
    ...FULL,
    file,
    storageId: 'here',
    databases: ['d'],
  });
});

test.each<readonly [string, File]>([
  ['another file', new File(['TDMBAK is how it begins, but then'], 'x')],
  ['nothing', new File([], 'x')],
  ['one that is cut off', new File([backup(FULL).slice(0, 40)], 'x')],
  ['one that nothing can build on', backup({ ...FULL, version: 1 })],
])('%s is none', async (_name, file) => {
  expect(await readBackupFile(file)).toBeUndefined();
});

test('a chain has to be whole and of one database', async () => {
  const read = await Promise.all(
    [backup(FULL), backup(NEXT), backup({ ...FULL, storageId: 'elsewhere' })].map(readBackupFile),
  );
  const [full, next, foreign] = read.filter((each) => each !== undefined);
  if (full === undefined || next === undefined || foreign === undefined) expect.fail('not read');

  expect([full, next].map(isFull)).toEqual([true, false]);
  expect(newestFirst([full, next])).toEqual([next, full]);
  expect(faultOfChain([])).toBeUndefined();
  expect(faultOfChain([full])).toBeUndefined();
  expect(faultOfChain([next, full])).toBeUndefined();
  expect(faultOfChain([next])).toBe('incomplete');
  expect(faultOfChain([next, foreign])).toBe('foreign');
});
