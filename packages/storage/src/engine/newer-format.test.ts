// Files that a newer version wrote, found by this one after a downgrade: nothing is damaged, so
// nothing may be left out, replaced or repaired.
import { openStorageInline } from './open-inline.ts';
import { BLOCK_ENCODINGS } from '@tidemark/kernels';
import { beforeEach, expect, test } from 'vitest';

import { crc32c } from '../columns/codecs.ts';
import { NewerFormat } from '../damage.ts';
import { MARKED_VERSION } from '../disk/frames.ts';
import { SEGMENT_VERSION } from '../segment/format.ts';
import { POLICY, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { repairDirectory } from '../tools/repair.ts';
import { verifyDirectory } from '../tools/verify.ts';

const OPTIONS = { directory: '/data', hasBackgroundWork: false, checkpointSeriesMin: 0 };
/** Where files have their version: behind the six characters of their kind. */
const VERSION_AT = 6;

let disk: SimulatedDisk;

beforeEach(async () => {
  disk = new SimulatedDisk();
  const engine = await openStorageInline(OPTIONS, { disk });
  await write(engine, `m,t=a f=1 1\n`);
  await engine.flush();
  await write(engine, `m,t=a f=2 ${POLICY.shardDurationNanos}\n`);
  await engine.close();
});

function pathOf(end: string): string {
  return disk.paths().find((path) => path.endsWith(end))!;
}

/** A header of 16 bytes, which end with their checksum. */
function newerHeader(end: string): void {
  const bytes = disk.bytes(pathOf(end));
  bytes[VERSION_AT] = 99;
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(12, crc32c(bytes.subarray(0, 12)), true);
}

/** A checkpoint says its version at both ends. */
function newerCheckpoint(): void {
  const bytes = disk.bytes(pathOf('.checkpoint'));
  bytes[VERSION_AT] = 99;
  bytes[bytes.length - 8 + VERSION_AT] = 99;
}

test.each([
  ['a segment', () => newerHeader('.seg')],
  ['a file of the log', () => newerHeader('.wal')],
  ['an index file', () => newerHeader('.series')],
  ['a checkpoint', newerCheckpoint],
])('with %s of a newer version it is not opened, and not repaired', async (_, change) => {
  change();
  const before = disk.copy();

  const opened = openStorageInline(OPTIONS, { disk });

  await expect(opened).rejects.toThrow(NewerFormat);
  await expect(opened).rejects.toThrow('was written by a newer version: it has format 99');
  await expect(verifyDirectory({ directory: '/data', disk })).rejects.toThrow(NewerFormat);
  await expect(repairDirectory({ directory: '/data', disk })).rejects.toThrow(NewerFormat);
  for (const path of before.paths()) expect(disk.bytes(path), path).toEqual(before.bytes(path));
});

test('no encoding is written into files of a version that programs read which lack it', () => {
  for (const { name, since } of BLOCK_ENCODINGS) {
    expect(since.segment, name).toBeLessThanOrEqual(SEGMENT_VERSION);
    expect(since.log ?? 0, name).toBeLessThanOrEqual(MARKED_VERSION);
  }
});
