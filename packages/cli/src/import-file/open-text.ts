// Opens a file for import as text: gzip is recognised and unpacked, and a binary file is recognised
// by its first bytes and refused with advice.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { messageOf } from '@tidemark/core';

import { UsageError } from '../exit.ts';

/** The text of a file in chunks, and the progress of reading. */
export type OpenText = {
  readonly chunks: AsyncIterable<Buffer>;
  /** 0 for files without a size, such as a pipe. */
  readonly sizeBytes: number;
  /** Counts the file's bytes on disk. */
  readonly readBytes: () => number;
};

const EXPORT_AND_IMPORT =
  'run `influx_inspect export -datadir DIR/data -waldir DIR/wal -compress -out export.gz` on its machine, then `tidemark tsdb import --file export.gz`';

/** Signatures of binary files, each with advice. */
const SIGNATURES: readonly {
  readonly at: number;
  readonly bytes: Buffer;
  readonly advice: string;
}[] = [
  {
    at: 0,
    bytes: Buffer.from([0x16, 0xd1, 0x16, 0xd1]),
    advice: `is a TSM file of InfluxDB: ${EXPORT_AND_IMPORT}`,
  },
  {
    at: 0,
    bytes: Buffer.from('TDMBAK'),
    advice:
      'is a backup of Tidemark: give it to `tidemark tsdb restore`, which makes a data directory of it',
  },
  {
    at: 257,
    bytes: Buffer.from('ustar'),
    advice: 'is a tar archive: unpack it and import the export in it',
  },
];

const GZIP = Buffer.from([0x1f, 0x8b]);

/** Throws a `UsageError` for a directory and, with the first chunk, for a binary file. */
export async function openText(path: string): Promise<OpenText> {
  const found = await stat(path);
  if (found.isDirectory()) throw new UsageError(`${path} ${await adviceOnDirectory(path)}`);
  if (isPortableBackup(path)) throw new UsageError(`${path} ${PORTABLE_ADVICE}`);
  const file = createReadStream(path);
  return {
    chunks: checkedText(path, unpacked(path, file)),
    sizeBytes: found.size,
    readBytes: () => file.bytesRead,
  };
}

const PORTABLE_ADVICE =
  'is part of a backup by `influxd backup -portable`: restore it into a running InfluxDB (`influxd restore -portable DIR`) and copy that with `tidemark tsdb import --from URL`';

/** `20240501T101112Z.manifest`, `….meta`, `….s1.tar.gz`: the files of one backup. */
const isPortableBackup = (path: string): boolean =>
  /^\d{8}T\d{6}Z\.(manifest|meta|s\d+\.tar\.gz)$/.test(basename(path));

async function adviceOnDirectory(path: string): Promise<string> {
  const names = await readdir(path);
  if (names.some(isPortableBackup)) return PORTABLE_ADVICE;
  if (names.includes('data') && names.includes('wal'))
    return `is the data directory of InfluxDB: ${EXPORT_AND_IMPORT}`;
  if (names.some((name) => /^meta\.\d+$/.test(name)))
    return 'is a backup by `influxd backup`: restore it into an InfluxDB (`influxd restore`), start that, and copy it with `tidemark tsdb import --from URL`';
  return 'is a directory: give the file of an export';
}

async function* unpacked(path: string, file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = file[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const all = prepended(first.value, chunks);
  if (!first.value.subarray(0, GZIP.length).equals(GZIP)) {
    yield* all;
    return;
  }
  const gunzip = createGunzip();
  // Errors are thrown where the text is read.
  pipeline(Readable.from(all), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw new UsageError(`${path} is not a whole gzip file: ${messageOf(error)}`, { cause: error });
  }
}

async function* prepended(
  first: Buffer,
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Strings in texts may contain control characters; binary files are full of them. */
const CONTROL_SHARE_MAX = 0.02;

async function* checkedText(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isChecked = false;
  for await (const chunk of chunks) {
    if (!isChecked) requireText(path, chunk);
    isChecked = true;
    yield chunk;
  }
}

function requireText(path: string, chunk: Buffer): void {
  const known = SIGNATURES.find(({ at, bytes }) =>
    chunk.subarray(at, at + bytes.length).equals(bytes),
  );
  if (known !== undefined) throw new UsageError(`${path} ${known.advice}`);
  // Tab, line feed and carriage return are text.
  const controls = chunk.reduce(
    (count, byte) => (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13 ? count + 1 : count),
    0,
  );
  if (chunk.includes(0) || controls > chunk.length * CONTROL_SHARE_MAX)
    throw new UsageError(
      `${path} is a binary file: an import needs line protocol, or the output of \`influx_inspect export\` or \`tidemark tsdb export\`, plain or gzipped`,
    );
}
