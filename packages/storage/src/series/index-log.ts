// Series of one database on disk: a file of checksummed records, appended at every flush, so that what the log files
// no longer hold is known at the next start. Framing is that of the log; format in docs/formats/series-index.md.
import { ByteReader, ByteWriter, DecodeError } from '../bytes.ts';
import type { Disk } from '../disk/disk.ts';
import { noteShortLived } from '../short-lived.ts';
import { frameRecord, scanWalFile, WAL_HEADER_BYTES, walHeader } from '../wal/wal-file.ts';
import { decodeAdditions, encodeAdditions } from '../wal/wal-record.ts';
import type { IndexAdditions } from '../wal/wal-record.ts';

export type IndexLogContents = {
  readonly additions: readonly IndexAdditions[];
  readonly damagedAt: readonly number[];
};

export class IndexLog {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #path: string;

  constructor(disk: Disk, directory: string, fileId: number) {
    this.#disk = disk;
    this.#directory = directory;
    this.#path = `${directory}/${indexFileName(fileId)}`;
  }

  get path(): string {
    return this.#path;
  }

  /** Bytes of the file, 0 when there is none. */
  sizeBytes(): number {
    if (!this.#disk.exists(this.#path)) return 0;
    const file = this.#disk.open(this.#path, 'read');
    try {
      return file.size();
    } finally {
      file.close();
    }
  }

  /** Reads all good records from `from` on, where one begins, and cuts a torn tail. */
  async read(from = 0): Promise<IndexLogContents> {
    if (!this.#disk.exists(this.#path)) return { additions: [], damagedAt: [] };
    const file = this.#disk.open(this.#path, 'modify');
    try {
      const scan = scanWalFile(file, from);
      if (scan.goodBytes < scan.fileBytes) {
        file.truncate(scan.goodBytes);
        await file.sync();
      }
      const additions: IndexAdditions[] = [];
      const damagedAt = [...scan.damagedAt];
      for (const payload of scan.payloads) {
        try {
          additions.push(decodeAdditions(new ByteReader(payload)));
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
          damagedAt.push(payload.byteOffset);
        }
      }
      return { additions, damagedAt };
    } finally {
      file.close();
    }
  }

  /**
   * Appends entries, a record for each portion; durable when it resolves, to the file's size. Nothing of them stays when it
   * fails.
   */
  async append(portions: Iterable<IndexAdditions>, pause: () => Promise<void>): Promise<number> {
    const isNew = !this.#disk.exists(this.#path);
    const file = this.#disk.open(this.#path, isNew ? 'create' : 'modify');
    let end: number;
    try {
      if (file.size() < WAL_HEADER_BYTES) file.write(walHeader(), 0);
      const start = Math.max(file.size(), WAL_HEADER_BYTES);
      end = start;
      try {
        for (const additions of portions) {
          const out = new ByteWriter(additions.series.bytes.length + (1 << 12));
          encodeAdditions(additions, out);
          const frame = frameRecord(out.finish());
          file.write(frame, end);
          end += frame.length;
          // As they are in the index, as a record and as a frame.
          noteShortLived(frame.length * 3);
          await pause();
        }
      } catch (error) {
        // A full disk may have taken a part; the next append must not follow it.
        file.truncate(start);
        throw error;
      }
      await file.sync();
    } finally {
      file.close();
    }
    if (isNew) await this.#disk.syncDirectory(this.#directory);
    return end;
  }

  remove(): void {
    this.#disk.remove(this.#path);
  }
}

export function indexFileName(fileId: number): string {
  return `${String(fileId).padStart(8, '0')}.series`;
}
