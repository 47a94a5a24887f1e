// The log alone: records of several sizes from one and from eight writers, synced before they count
// and synced by interval. What a record costs in CPU, and how many share one sync.
// packages/cli/bin/node --conditions=source tests/bench/storage/log.ts [seconds]
import { mkdtempSync, rmSync, statSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { nodeDisk } from '../../../packages/storage/src/disk/node-disk.ts';
import { fillFrame, FRAME_BYTES, scanFrames } from '../../../packages/storage/src/disk/frames.ts';
import { Wal, walPath } from '../../../packages/storage/src/wal/wal.ts';
import { cpuMs } from '../kernels/measure.ts';

const SECONDS = Number(process.argv[2] ?? 1);
// A point, a small batch, and 5,000 rows of ten fields as columns.
const RECORD_BYTES = [100, 4 << 10, 130 << 10] as const;
/** Files as large as the service lets them grow. */
const FILE_BYTES = 48 << 20;

for (const fsync of ['always', 'interval'] as const) {
  for (const sizeBytes of RECORD_BYTES) {
    for (const writers of [1, 8]) await measure({ fsync, sizeBytes, writers });
  }
}

type Case = {
  readonly fsync: 'always' | 'interval';
  readonly sizeBytes: number;
  readonly writers: number;
};

async function measure({ fsync, sizeBytes, writers }: Case): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-log-'));
  const disk = nodeDisk();
  const log = (message: string): never => {
    throw new Error(message);
  };
  const wal = new Wal({ disk, directory, firstFileId: 1, fsync, log });
  const cpu = cpuMs();
  const began = performance.now();
  const end = began + SECONDS * 1000;
  let applied = 0;
  const write = async (): Promise<void> => {
    while (performance.now() < end) {
      const record = randomRecord(sizeBytes);
      await wal.append(record, [], () => applied++);
      if (wal.fileBytes > FILE_BYTES) await startNewFile(wal, directory);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const seconds = (performance.now() - began) / 1000;
  const { records, syncs } = wal.counters;
  const usedMs = cpuMs() - cpu;
  await wal.close();
  if (applied !== records) throw new Error('every durable record is applied once');
  const replay = measureReplay(directory);
  const name = `${fsync}, ${sizeBytes} bytes, ${writers} writer${writers > 1 ? 's' : ''}`;
  console.log(
    `${name.padEnd(34)} ${(records / seconds).toFixed(0).padStart(7)}/s ${((records * sizeBytes) / seconds / 1e6).toFixed(1).padStart(7)} MB/s, ` +
      `CPU ${((usedMs * 1000) / records).toFixed(0).padStart(5)} us a record, ${(records / Math.max(1, syncs)).toFixed(1).padStart(7)} records a sync, replay ${replay} MB/s`,
  );
  rmSync(directory, { recursive: true });
}

/** Bytes that cannot be told from those of compressed columns. */
function randomRecord(sizeBytes: number): Uint8Array {
  const framed = new Uint8Array(FRAME_BYTES + sizeBytes);
  for (let at = FRAME_BYTES; at < framed.length; at += 64) framed[at] = Math.random() * 256;
  fillFrame(framed);
  return framed;
}

/** As after a flush: older files are gone. */
async function startNewFile(wal: Wal, directory: string): Promise<void> {
  let first = wal.fileId;
  await wal.rotate((fileId) => {
    first = fileId;
  });
  for (const name of readdirSync(directory)) {
    if (join(directory, name) < walPath(directory, first)) rmSync(join(directory, name));
  }
}

/** Reading the files back, checksums verified. */
function measureReplay(directory: string): string {
  const names = readdirSync(directory).filter((name) => name !== 'FILES');
  const files = names.map((name) => join(directory, name));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const disk = nodeDisk();
  const began = performance.now();
  for (const path of files) {
    const file = disk.open(path, 'read');
    const { goodBytes, fileBytes } = scanFrames(file);
    file.close();
    if (goodBytes !== fileBytes) throw new Error(`${path} is torn`);
  }
  return (bytes / (performance.now() - began) / 1000).toFixed(0);
}
