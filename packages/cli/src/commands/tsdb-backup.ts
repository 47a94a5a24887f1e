// `tidemark tsdb backup|restore`: backups of a running database, and restores into a running or
// stopped one.
import { join, resolve } from 'node:path';

import { makeDirectory, PRIVATE_DIRECTORY } from '@tidemark/process';
import type { BackupProgress } from '@tidemark/storage';
import type { RestoreOutcome } from '@tidemark/tsdb';
import { Command } from 'commander';

import { UsageError } from '../exit.ts';
import { withByteBar } from '../output/progress.ts';
import { humanBytes, print, printJson } from '../output/table.ts';
import { tsdbClient, withTsdbOptions } from './connection.ts';
import { collect } from './engine-client/context.ts';

/** Chunk size of uploads: far below `http.max-body-size`, large compared to a round trip. */
const UPLOAD_BYTES = 4 << 20;

type BackupFlags = {
  readonly url?: string;
  readonly token?: string;
  readonly user?: string;
  readonly database?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly since?: string;
  readonly json?: boolean;
};

type RestoreFlags = {
  readonly url?: string;
  readonly token?: string;
  readonly user?: string;
  readonly dataDir?: string;
  readonly database?: string;
  readonly as?: string;
  readonly json?: boolean;
};

/** The subcommands. */
export function tsdbBackupCommands(): readonly Command[] {
  return [backupCommand(), restoreCommand()];
}

function backupCommand(): Command {
  return withTsdbOptions(new Command('backup'))
    .description(
      'Back up a running database into one file without stopping it. Everything with users, dashboards and saved statements, or some databases.',
    )
    .argument('<file>', 'the file to create; it must not exist')
    .option('--database <name>', 'only this database; repeatable', collect)
    .option('--start <time>', 'only shards that end after this time (RFC 3339)')
    .option('--end <time>', 'only shards that begin before this time (RFC 3339)')
    .option(
      '--since <file>',
      'a previous backup: store only what is missing in it and in those it builds on',
    )
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (file: string, flags: BackupFlags) => {
      const { describeBackup, storeBackup } = await import('@tidemark/storage');
      const { database: databases, start, end } = flags;
      const since = flags.since === undefined ? undefined : await describeBackup(flags.since);
      const response = await tsdbClient(flags, 600_000).http.send('/api/backup', {
        method: 'POST',
        json: {
          databases,
          start,
          end,
          since: since && { storageId: since.manifest.storageId, segments: since.segments },
        },
        // No time limit; the server ends a download that nobody reads.
        signal: new AbortController().signal,
      });
      if (response.body === null) throw new UsageError('--url names no database that backs up');
      const { body } = response;
      const path = resolve(file);
      const report = await withByteBar('backup', (onProgress) =>
        storeBackup(path, body, { onProgress }),
      );
      if (flags.json === true) return printJson({ file: path, ...report });
      const earlier =
        report.segmentsOfEarlierBackups === 0
          ? ''
          : `, ${report.segmentsOfEarlierBackups} more in earlier backups`;
      print(
        `${file}: ${humanBytes(report.sizeBytes)}, databases ${report.databases.join(', ')}, ${report.segments} segments${earlier}`,
      );
    });
}

function restoreCommand(): Command {
  return withTsdbOptions(new Command('restore'))
    .description(
      'Add the databases of a backup to a running database (--url) or to one that is not running (--data-dir). Databases that exist are never touched.',
    )
    .argument('<files...>', 'a full backup and the incremental ones after it, oldest first')
    .option('--data-dir <dir>', 'data directory of a database that is not running, or a new one')
    .option('--database <name>', 'only this database of the backup, without users')
    .option('--as <name>', 'its new name')
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (files: readonly string[], flags: RestoreFlags) => {
      if (flags.as !== undefined && flags.database === undefined) {
        throw new UsageError('--as needs --database: a new name is for one database');
      }
      if (flags.url !== undefined && flags.dataDir !== undefined) {
        throw new UsageError('give either --url or --data-dir');
      }
      const outcome = await withByteBar('restore', (onProgress) =>
        flags.dataDir === undefined
          ? restoreRemote(files, flags, onProgress)
          : restoreLocal(files, flags, { dataDirectory: flags.dataDir, onProgress }),
      );
      if (flags.json === true) return printJson(outcome);
      printOutcome(outcome);
    });
}

type OnProgress = (progress: BackupProgress) => void;

async function restoreRemote(
  files: readonly string[],
  flags: RestoreFlags,
  onProgress: OnProgress,
): Promise<RestoreOutcome> {
  const { http } = tsdbClient(flags, 600_000);
  const path = '/api/restore';
  const { database, as } = flags;
  const { id } = await http.json<{ readonly id: string }>(path, {
    method: 'POST',
    search: { database, as },
  });
  const send = async (portions: readonly Uint8Array[]): Promise<void> => {
    const body = new Uint8Array(Buffer.concat(portions));
    await http.send(path, { method: 'PUT', search: { id }, body });
  };
  try {
    let portions: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const portion of backupBytes(files, flags, onProgress)) {
      portions.push(portion);
      sizeBytes += portion.length;
      if (sizeBytes < UPLOAD_BYTES) continue;
      await send(portions);
      portions = [];
      sizeBytes = 0;
    }
    if (sizeBytes > 0) await send(portions);
    return await http.json<RestoreOutcome>(path, { method: 'POST', search: { id } });
  } catch (error) {
    // The user needs the original error; without this request the server cleans up by itself.
    await http.sendRaw(path, { method: 'DELETE', search: { id } }).catch(() => undefined);
    throw error;
  }
}

async function restoreLocal(
  files: readonly string[],
  flags: RestoreFlags,
  options: { readonly dataDirectory: string; readonly onProgress: OnProgress },
): Promise<RestoreOutcome> {
  const { restoreOffline } = await import('@tidemark/tsdb');
  const directory = join(resolve(options.dataDirectory), 'tsdb');
  makeDirectory(directory, { setting: '--data-dir', mode: PRIVATE_DIRECTORY });
  const { database, as } = flags;
  return restoreOffline(directory, { database, as }, backupBytes(files, flags, options.onProgress));
}

async function* backupBytes(
  files: readonly string[],
  { database }: RestoreFlags,
  onProgress: OnProgress,
): AsyncGenerator<Uint8Array> {
  const { joinBackups } = await import('@tidemark/storage');
  const databases = database === undefined ? undefined : [database];
  yield* joinBackups(files, { databases, onProgress });
}

function printOutcome(outcome: RestoreOutcome): void {
  const { databases, shards, bytes, users, tokens, documents, leftOut } = outcome;
  print(
    `restored ${databases.length === 0 ? 'no database' : databases.join(', ')}: ${shards} shards, ${humanBytes(bytes)}`,
  );
  if (users.length > 0) print(`users: ${users.join(', ')}`);
  if (tokens.length > 0) print(`API tokens: ${tokens.join(', ')}`);
  if (documents > 0) print(`dashboards and saved statements: ${documents}`);
  for (const one of leftOut) print(`left out: ${one}`);
}
