// Imports a file of statements and line protocol (`# DDL`, `# DML`, `# CONTEXT-DATABASE: db`), as exports have it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

import type { TsdbClient } from '@tidemark/client';
import { SingleBar } from 'cli-progress';

const BATCH_LINES = 5000;

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
  for await (const line of lines) {
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
  const response = await client.query(statement);
  const error = response.error ?? response.results?.find((one) => one.error !== undefined)?.error;
  if (error !== undefined) keepError(result, `${statement}: ${error}`);
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
    const message = error instanceof Error ? error.message : String(error);
    const dropped = /dropped=(\d+)/.exec(message);
    result.failedInserts += dropped === null ? batch.lines.length : Math.max(1, Number(dropped[1]));
    keepError(result, message);
  }
}

function keepError(result: ImportResult, message: string): void {
  if (result.errors.length < ERRORS_KEPT) result.errors.push(message);
}
