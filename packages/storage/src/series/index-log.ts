// The index log: the series of one database, in a file of checksummed records to which every flush
// appends, since the log files that held them are removed then. Framed like log files; format in
// docs/formats/series-index.md.
import { ByteReader, ByteWriter, DecodeError } from '../columns/bytes.ts';
import { crc32c } from '../columns/codecs.ts';
import type { Disk, DiskFile } from '../disk/disk.ts';
import { appendFrames } from '../disk/framed-file.ts';
import { sizeOf } from '../disk/read-file.ts';
import type { FramedEnd } from '../disk/framed-file.ts';
import { scanFrames } from '../disk/frames.ts';
import type { ScanRange } from '../disk/frames.ts';
import { decodeAdditions, encodeAdditions } from './index-additions.ts';
import type { IndexAdditions } from './index-additions.ts';

export type IndexLogContents = {
  readonly additions: readonly IndexAdditions[];
  readonly damagedAt: readonly number[];
  /** End of the last good record. */
  readonly goodBytes: number;
};

export class IndexLog {
  readonly #disk: Disk;
  readonly #path: string;

  constructor(disk: Disk, directory: string, fileId: number) {
    this.#disk = disk;
    this.#path = `${directory}/${indexFileName(fileId)}`;
  }

  get path(): string {
    return this.#path;
  }

  /** Bytes of the file, 0 when there is none. */
  sizeBytes(): number {
    return sizeOf(this.#disk, this.#path);
  }

  /** Whether the file has this size and this CRC-32C. */
  isAsWritten({ bytes, checksum }: { readonly bytes: number; readonly checksum: number }): boolean {
    return this.#read(false, (file) => {
      if (file.size() !== bytes) return false;
      const buffer = new Uint8Array(bytes);
      return file.read(buffer, 0) === bytes && crc32c(buffer) === checksum;
    });
  }

  /** CRC-32C of the first bytes. */
  checksum(sizeBytes: number): number {
    return this.#read(0, (file) => {
      const buffer = new Uint8Array(Math.min(sizeBytes, file.size()));
      return crc32c(buffer.subarray(0, file.read(buffer, 0)));
    });
  }

  /** Reads the good records of a range. */
  read(range: ScanRange): IndexLogContents {
    const nothing: IndexLogContents = { additions: [], damagedAt: [], goodBytes: 0 };
    return this.#read(nothing, (file) => {
      const scan = scanFrames(file, range);
      const additions: IndexAdditions[] = [];
      const damagedAt = scan.damaged.map(({ offset }) => offset);
      for (const payload of scan.payloads) {
        try {
          additions.push(decodeAdditions(new ByteReader(payload)));
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
          damagedAt.push(payload.byteOffset);
        }
      }
      return { additions, damagedAt, goodBytes: scan.goodBytes };
    });
  }

  #read<T>(whenMissing: T, read: (file: DiskFile) => T): T {
    if (!this.#disk.exists(this.#path)) return whenMissing;
    const file = this.#disk.open(this.#path, 'read');
    try {
      return read(file);
    } finally {
      file.close();
    }
  }

  /** Appends entries, a record for each portion; see `appendFrames`. */
  append(
    portions: Iterable<IndexAdditions>,
    options: Omit<Parameters<typeof appendFrames>[2], 'payloads'>,
  ): Promise<FramedEnd> {
    return appendFrames(this.#disk, this.#path, { ...options, payloads: payloadsOf(portions) });
  }

  remove(): void {
    this.#disk.remove(this.#path);
  }
}

function* payloadsOf(portions: Iterable<IndexAdditions>): Iterable<Uint8Array> {
  for (const additions of portions) {
    const out = new ByteWriter(additions.series.bytes.length + (1 << 12));
    encodeAdditions(additions, out);
    yield out.finish();
  }
}

export function indexFileName(fileId: number): string {
  return `${String(fileId).padStart(8, '0')}.series`;
}
