// Files of recordings: gzip (its checksum detects damage) over lines of JSON. The first line is a
// header; every other line is a point `[database, policy, line]` or a result series of a query.
// Files are written and read as streams, so neither side needs the whole in memory. Format:
// docs/guide/engine-recordings.md.
import { PRIVATE_FILE } from '@tidemark/process';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Gzip } from 'node:zlib';
import type { ReadStream } from 'node:fs';
import { Corruption, messageOf } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { EdgeType } from '@tidemark/pipeline';
import type { QueryResultSeries } from '@tidemark/runtime';

const FORMAT = 'tidemark-recording';
const VERSION = 1;

/** A point of a stream recording. */
export type RecordedPoint = {
  readonly database: string;
  readonly retentionPolicy: string;
  /** Line protocol with a time in nanoseconds. */
  readonly line: string;
};

/** The answer to one query of a batch recording. `query` counts the query nodes of the task. */
export type RecordedResult = {
  readonly query: number;
  readonly stop: Timestamp;
  readonly series: readonly QueryResultSeries[];
};

export class RecordingWriter {
  readonly #path: string;
  readonly #gzip: Gzip;
  // Settles when the file is written and closed; rejects when it cannot be.
  readonly #written: Promise<void>;
  readonly #failed = new AbortController();
  // All who wait for room wait for the same promise.
  #room: Promise<unknown> | undefined;
  #count = 0;

  constructor(path: string, type: EdgeType) {
    this.#path = path;
    this.#gzip = createGzip({ level: 4 });
    this.#written = pipeline(this.#gzip, createWriteStream(`${path}.part`, { mode: PRIVATE_FILE }));
    this.#written.catch((reason: unknown) => this.#failed.abort(reason));
    this.#gzip.write(`${JSON.stringify({ format: FORMAT, version: VERSION, type })}\n`);
  }

  /** Aborted when the disk fails, with its error. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Lines written so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * `undefined` when there is room for more, otherwise resolves when there is. Rejects when the
   * disk fails.
   */
  point({ database, retentionPolicy, line }: RecordedPoint): Promise<unknown> | undefined {
    return this.#line(JSON.stringify([database, retentionPolicy, line]));
  }

  result({ query, stop, series }: RecordedResult): Promise<unknown> | undefined {
    const json = JSON.stringify({ query, stop, series }, (_key, value: unknown) =>
      typeof value === 'bigint' ? { $int: String(value) } : value,
    );
    return this.#line(json);
  }

  /** Completes the file, which gets its name now. Returns its size. */
  async finish(): Promise<number> {
    this.#gzip.end();
    await this.#written;
    await syncFile(`${this.#path}.part`);
    await rename(`${this.#path}.part`, this.#path);
    await syncFile(dirname(this.#path));
    return (await stat(this.#path)).size;
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    this.#gzip.destroy();
    await this.#written.catch(() => undefined);
    await rm(`${this.#path}.part`, { force: true });
  }

  #line(json: string): Promise<unknown> | undefined {
    this.#count++;
    if (this.#gzip.destroyed) return this.#written;
    if (this.#gzip.write(`${json}\n`)) return undefined;
    this.#room ??= Promise.race([once(this.#gzip, 'drain'), this.#written]).finally(() => {
      this.#room = undefined;
    });
    return this.#room;
  }
}

// A name and its content are on disk only after both have been synced.
async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a recording. Throws `Corruption` if the file is damaged or is no recording. */
export async function* readRecording(
  path: string,
  onProgress: (bytesRead: number) => void,
): AsyncIterable<RecordedPoint | RecordedResult> {
  const file = createReadStream(path);
  let number = 0;
  try {
    for await (const line of linesOf(file)) {
      number++;
      onProgress(file.bytesRead);
      const value: unknown = JSON.parse(line, reviveInteger);
      if (number === 1) checkHeader(value);
      else yield readEntry(value);
    }
    if (number === 0) throw new Error('file is empty');
  } catch (cause) {
    // Any error of the bytes means that the file is not what was written.
    const reason = messageOf(cause);
    throw new Corruption(`damaged recording: ${reason}`, { file: path, offset: file.bytesRead });
  } finally {
    file.destroy();
  }
}

// Lines of a compressed file; a failure of any stage ends the iteration with it.
async function* linesOf(file: ReadStream): AsyncIterable<string> {
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  let rest = '';
  const decoder = new StringDecoder('utf8');
  for await (const chunk of file.pipe(gunzip)) {
    const text = rest + decoder.write(chunk as Buffer);
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARS_MAX) throw new Error('line is too long');
    yield* lines;
  }
  if (rest !== '') throw new Error('last line is incomplete');
}

// One answer of a query is one line.
const LINE_CHARS_MAX = 512 * 1024 * 1024;

function reviveInteger(_key: string, value: unknown): unknown {
  const isInteger = value !== null && typeof value === 'object' && '$int' in value;
  return isInteger ? BigInt(String(value.$int)) : value;
}

function checkHeader(value: unknown): void {
  const header = value as { readonly format?: unknown; readonly version?: unknown };
  if (header.format !== FORMAT) throw new Error('not a recording');
  if (header.version !== VERSION) throw new Error(`unknown version ${String(header.version)}`);
}

function readEntry(value: unknown): RecordedPoint | RecordedResult {
  if (Array.isArray(value)) {
    const [database, retentionPolicy, line] = value.map(String);
    if (line === undefined) throw new Error('point is incomplete');
    return { database: database ?? '', retentionPolicy: retentionPolicy ?? '', line };
  }
  const result = value as RecordedResult;
  if (typeof result.stop !== 'bigint' || !Array.isArray(result.series)) {
    throw new Error('result is incomplete');
  }
  return result;
}
