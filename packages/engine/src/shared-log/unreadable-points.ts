// Records of the log of points that could not be read, entirely or in part, are saved as files for
// inspection before they are purged from the log.
import { mkdirSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@tidemark/core';
import type { LogRecord } from '@tidemark/cluster';
import { PRIVATE_DIRECTORY } from '@tidemark/process';
import { UNREADABLE_KEPT } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';

/** In the data directory. */
const DIRECTORY = 'unreadable-points';

const SUFFIX = '.record';

export class UnreadablePoints {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #numbers: Set<number>;
  #writing: Promise<void> = Promise.resolve();

  constructor(dataDirectory: string, logger: Logger) {
    this.#directory = join(dataDirectory, DIRECTORY);
    this.#logger = logger;
    this.#numbers = new Set(numbersIn(this.#directory));
  }

  /** Number of records set aside, including those from before this process. */
  get count(): number {
    return this.#numbers.size;
  }

  /** Sets a record aside, once. */
  add(record: LogRecord, problem: string): void {
    const { sequence, level, label, bytes } = record;
    if (this.#numbers.has(sequence)) return;
    this.#numbers.add(sequence);
    const file = join(this.#directory, `${sequence}${SUFFIX}`);
    this.#logger('error', 'a record of the log of points cannot be read and is set aside', {
      record: sequence,
      file,
      err: problem,
    });
    if (this.#numbers.size > UNREADABLE_KEPT.value) return;
    const head = Buffer.from(`${JSON.stringify({ level, label, problem })}\n`);
    this.#writing = this.#writing.then(() => this.#write(file, Buffer.concat([head, bytes])));
  }

  /** Waits for writes in progress. */
  close(): Promise<void> {
    return this.#writing;
  }

  /** Never rejects. */
  async #write(file: string, bytes: Uint8Array): Promise<void> {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFile(file, bytes, { mode: 0o600 });
    } catch (error) {
      this.#logger('error', 'failed to set a record aside', { file, err: messageOf(error) });
    }
  }
}

function numbersIn(directory: string): readonly number[] {
  try {
    return readdirSync(directory).map((name) => Number(name.slice(0, -SUFFIX.length)));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
