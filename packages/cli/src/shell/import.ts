// Imports a file of statements and line protocol (`# DDL`, `# DML`, `# CONTEXT-DATABASE: db`), as exports have it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

import { messageOf } from '@tidemark/core';
import type { TsdbClient } from '@tidemark/client';
import { SingleBar } from 'cli-progress';

import { stopsInString } from '../import-server/lines.ts';

const BATCH_LINES = 5000;
/** Where a string is taken for one that was never closed: the server says what is wrong with it. */
const MAX_LINE_CHARACTERS = 1 << 20;

export type ImportOptions = {
  readonly path: string;
  readonly isCompressed: boolean;
  readonly precision: string;
  readonly consistency: string;
  /** Where lines go before the file names a database. */
  readonly database: string;
  /** Points a second at most; 0 is no limit. */
  readonly pointsPerSecond: number;
};

export type ImportResult = {
  commands: number;
  inserts: number;
  failedInserts: number;
  readonly errors: string[];
};

const ERRORS_KEPT = 20;

/** Reads the file once, without holding it in memory. Failed batches are counted and the import goes on. */
export async function importFile(
  client: TsdbClient,
  options: ImportOptions,
): Promise<ImportResult> {
  const result: ImportResult = { commands: 0, inserts: 0, failedInserts: 0, errors: [] };
  const { size } = await stat(options.path);
  const file = createReadStream(options.path);
  const bar = process.stderr.isTTY
    ? new SingleBar({
        format: 'import [{bar}] {percentage} % {eta_formatted}',
        stream: process.stderr,
      })
    : undefined;
  bar?.start(size, 0);
  const lines = createInterface({
    input: options.isCompressed ? file.pipe(createGunzip()) : file,
    crlfDelay: Infinity,
  });
  const target = { database: options.database, retentionPolicy: '' };
  let isData = false;
  let batch: string[] = [];
  const started = performance.now();
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    await writeBatch(client, options, { lines: batch, ...target }, result);
    batch = [];
    bar?.update(file.bytesRead);
    const aheadMs =
      options.pointsPerSecond === 0
        ? 0
        : (result.inserts / options.pointsPerSecond) * 1000 - (performance.now() - started);
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  };
  let open = '';
  for await (const piece of lines) {
    // A string may have newlines: such a point goes over several lines of the file.
    const line = open === '' ? piece : `${open}\n${piece}`;
    open =
      isData && !line.startsWith('#') && stopsInString(line) && line.length < MAX_LINE_CHARACTERS
        ? line
        : '';
    if (open !== '') continue;
    const context = /^# CONTEXT-(DATABASE|RETENTION-POLICY):\s*(.*)$/.exec(line);
    if (context !== null) {
      await flush();
      if (context[1] === 'DATABASE') target.database = context[2]?.trim() ?? '';
      else target.retentionPolicy = context[2]?.trim() ?? '';
    } else if (/^# D[DM]L/.test(line)) isData = line.startsWith('# DML');
    else if (line.trim() === '' || line.startsWith('#')) continue;
    else if (!isData) await runStatement(client, line, result);
    else if (batch.push(line) >= BATCH_LINES) await flush();
  }
  if (open !== '') batch.push(open);
  await flush();
  bar?.update(size);
  bar?.stop();
  return result;
}

async function runStatement(
  client: TsdbClient,
  statement: string,
  result: ImportResult,
): Promise<void> {
  result.commands++;
  const error = await errorOf(client, statement);
  if (error === undefined) return;
  // Exports name each policy of a database that way; the second one is a conflict where the database exists already.
  const named = /^\s*CREATE DATABASE (.+) WITH NAME (.+?);?\s*$/i.exec(statement);
  const [, database = '', policy = ''] = named ?? [];
  const create = `CREATE RETENTION POLICY ${policy} ON ${database} DURATION INF REPLICATION 1`;
  if (named !== null && (await errorOf(client, create)) === undefined) return;
  keepError(result, `${statement}: ${error}`);
}

/** What the server says against a statement. */
async function errorOf(client: TsdbClient, statement: string): Promise<string | undefined> {
  const response = await client.query(statement);
  return response.error ?? response.results?.find((one) => one.error !== undefined)?.error;
}

async function writeBatch(
  client: TsdbClient,
  options: ImportOptions,
  batch: {
    readonly lines: readonly string[];
    readonly database: string;
    readonly retentionPolicy: string;
  },
  result: ImportResult,
): Promise<void> {
  try {
    await client.write(batch.database, batch.lines.join('\n'), {
      precision: options.precision,
      consistency: options.consistency,
      retentionPolicy: batch.retentionPolicy === '' ? undefined : batch.retentionPolicy,
    });
    result.inserts += batch.lines.length;
  } catch (error) {
    // The rest of the file is still worth importing; the result says what is missing.
    const message = messageOf(error);
    const dropped = /dropped=(\d+)/.exec(message);
    result.failedInserts += dropped === null ? batch.lines.length : Math.max(1, Number(dropped[1]));
    keepError(result, message);
  }
}

function keepError(result: ImportResult, message: string): void {
  if (result.errors.length < ERRORS_KEPT) result.errors.push(message);
}
