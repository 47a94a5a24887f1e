// Imports a file of statements and line protocol, as exports contain them.
import { AppError, InvalidRequest, messageOf, NotFound } from '@tidemark/core';
import type { TsdbClient } from '@tidemark/client';
import { quoteIdentifier } from '@tidemark/influxql';

import { describeError, UsageError } from '../exit.ts';
import { withByteBar } from '../output/progress.ts';
import { fileEntries } from './file-entries.ts';
import type { FileEntry } from './file-entries.ts';
import { openText } from './open-text.ts';

const BATCH_LINES = 5000;

export type ImportOptions = {
  readonly path: string;
  readonly precision: string;
  readonly consistency: string;
  /** Target of lines before the file names a database. */
  readonly database: string;
  /** Maximum points per second; 0 means no limit. */
  readonly pointsPerSecond: number;
  /** Whether subscriptions, and so tasks, receive the points. */
  readonly notify: boolean;
};

export type ImportResult = {
  commands: number;
  inserts: number;
  failedInserts: number;
  /** `FILE:LINE: reason`, at most `ERRORS_KEPT`. */
  readonly errors: string[];
  /** Number of errors beyond those in the list. */
  unlistedErrors: number;
  /** Why the rest of the file was not read. */
  stopped?: string;
};

const ERRORS_KEPT = 20;
/** Shown characters of a refused line. */
const SHOWN_CHARACTERS = 200;

/** Whether everything in the file was imported. */
export const isComplete = (result: ImportResult): boolean =>
  result.failedInserts === 0 && result.errors.length === 0 && result.stopped === undefined;

/** The errors, one line each. */
export function describeErrors(result: ImportResult): readonly string[] {
  const { errors, unlistedErrors, stopped } = result;
  return [
    ...errors,
    ...(unlistedErrors === 0 ? [] : [`and ${unlistedErrors} more`]),
    ...(stopped === undefined ? [] : [`stopped at ${stopped}`]),
  ];
}

/** Warns that subscriptions did not receive the points. */
export const NOT_NOTIFIED =
  'subscriptions and tasks did not get these points (--notify sends them there, too)';

/**
 * Reads the file once, as a stream. Refused lines and statements are counted and skipped; the
 * import stops when the server cannot be used (unreachable, no such database, no right to it).
 */
export async function importFile(
  client: TsdbClient,
  options: ImportOptions,
): Promise<ImportResult> {
  const { chunks, sizeBytes, readBytes } = await openText(options.path);
  return withByteBar('import', async (onProgress) => {
    const job = new FileImport(client, options);
    try {
      let taken = 0;
      for await (const entry of fileEntries(chunks)) {
        await job.take(entry);
        if (++taken % BATCH_LINES !== 0) continue;
        onProgress({ doneBytes: readBytes(), totalBytes: sizeBytes });
      }
      await job.flush();
    } catch (error) {
      await job.stop(error);
    }
    return job.result;
  });
}

type Line = { readonly text: string; readonly line: number };

class FileImport {
  readonly result: ImportResult = {
    commands: 0,
    inserts: 0,
    failedInserts: 0,
    errors: [],
    unlistedErrors: 0,
  };
  readonly #client: TsdbClient;
  readonly #options: ImportOptions;
  readonly #started = performance.now();
  #database: string;
  #policy = '';
  #batch: Line[] = [];
  /** Current line of the file. */
  #line = 0;

  constructor(client: TsdbClient, options: ImportOptions) {
    this.#client = client;
    this.#options = options;
    this.#database = options.database;
  }

  async take(entry: FileEntry): Promise<void> {
    if (entry.kind === 'point') {
      if (this.#database === '')
        throw new UsageError(
          `${this.#options.path}:${entry.line}: no database for this point; give --database NAME, or put \`# CONTEXT-DATABASE: name\` before it`,
        );
      if (this.#batch.push(entry) >= BATCH_LINES) await this.flush();
      return;
    }
    await this.flush();
    if (entry.kind === 'statement') await this.#runStatement(entry);
    else if (entry.kind === 'database') this.#database = entry.name;
    else this.#policy = entry.name;
  }

  /** Ends with what was read so far; rethrows the error if that is nothing. */
  async stop(error: unknown): Promise<void> {
    // An invalid file may have valid lines before.
    if (error instanceof UsageError) await this.flush();
    const { inserts, commands, failedInserts } = this.result;
    const isExpected = error instanceof UsageError || error instanceof AppError;
    if (!isExpected || inserts + commands + failedInserts === 0) throw error;
    this.result.stopped = `${this.#options.path}:${this.#line}: ${describeError(error)}`;
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    await this.#write(batch);
    const { pointsPerSecond } = this.#options;
    if (pointsPerSecond === 0) return;
    const plannedMs = (this.result.inserts / pointsPerSecond) * 1000;
    const aheadMs = plannedMs - (performance.now() - this.#started);
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }

  async #runStatement({ text, line }: Line): Promise<void> {
    this.#line = line;
    this.result.commands++;
    const error = await this.#errorOf(text);
    if (error === undefined) return;
    // Exports name each policy of a database that way; the second one conflicts with the existing
    // database.
    const named = /^\s*CREATE DATABASE (.+) WITH NAME (.+?);?\s*$/i.exec(text);
    const [, database = '', policy = ''] = named ?? [];
    const create = `CREATE RETENTION POLICY ${policy} ON ${database} DURATION INF REPLICATION 1`;
    if (named !== null && (await this.#errorOf(create)) === undefined) return;
    this.#keepError(line, `${error} (${text})`);
  }

  /** The server's error for a statement. */
  async #errorOf(statement: string): Promise<string | undefined> {
    const response = await this.#client.query(statement);
    return response.error ?? response.results?.find((one) => one.error !== undefined)?.error;
  }

  async #write(batch: readonly Line[]): Promise<void> {
    const { precision, consistency, notify } = this.#options;
    const first = batch[0]?.line ?? 0;
    this.#line = first;
    try {
      const partial = await this.#client.writeReported(
        this.#database,
        batch.map(({ text }) => text).join('\n'),
        {
          precision,
          consistency,
          notify,
          retentionPolicy: this.#policy === '' ? undefined : this.#policy,
        },
      );
      this.result.inserts += partial?.written ?? batch.length;
      if (partial === undefined) return;
      const lineOf = fileLines(batch);
      for (const { line, reason, text } of partial.rejected)
        this.#keepError(lineOf(line), `${reason}: ${text.slice(0, SHOWN_CHARACTERS)}`);
      const unlisted = partial.unlisted ?? 0;
      this.result.unlistedErrors += unlisted;
      this.result.failedInserts += partial.rejected.length + unlisted;
    } catch (error) {
      // The rest of the file is worth importing only if the next request can succeed.
      if (error instanceof NotFound)
        throw new NotFound(messageOf(error), {
          hint: `Make it first: tidemark shell --execute 'CREATE DATABASE ${quoteIdentifier(this.#database)}'`,
        });
      if (!(error instanceof InvalidRequest)) throw error;
      const message = messageOf(error);
      const dropped = /dropped=(\d+)/.exec(message);
      const failed = dropped === null ? batch.length : Math.max(1, Number(dropped[1]));
      this.result.failedInserts += failed;
      this.result.inserts += batch.length - failed;
      this.#keepError(first, message);
    }
  }

  #keepError(line: number, message: string): void {
    if (this.result.errors.length < ERRORS_KEPT)
      this.result.errors.push(`${this.#options.path}:${line}: ${message}`);
    else this.result.unlistedErrors++;
  }
}

/** Maps a line of the body to its line in the file: points may span several lines. */
function fileLines(batch: readonly Line[]): (bodyLine: number) => number {
  const lines = batch.flatMap(({ text, line }) =>
    Array.from({ length: text.split('\n').length }, (_, i) => line + i),
  );
  return (bodyLine) => lines[bodyLine - 1] ?? 0;
}
