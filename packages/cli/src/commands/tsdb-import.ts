// `tidemark tsdb import`: moves a running InfluxDB 1.x server, or a file of its export tool, into a
// running Tidemark.
import { TsdbClient } from '@tidemark/client';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../exit.ts';
import { importServer } from '../import-server/import-server.ts';
import type { ImportReport } from '../import-server/import-server.ts';
import { ImportState } from '../import-server/state.ts';
import { withStepBar } from '../output/progress.ts';
import { print, printJson } from '../output/table.ts';
import {
  describeErrors,
  importFile,
  isComplete,
  NOT_NOTIFIED,
} from '../import-file/import-file.ts';
import { tsdbClient, withTsdbOptions } from './connection.ts';
import { collect } from './engine-client/context.ts';

type Flags = {
  readonly from?: string;
  readonly file?: string;
  readonly compressed?: boolean;
  readonly notify?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly user?: string;
  readonly database?: readonly string[];
  readonly state: string;
  readonly users: boolean;
  readonly json?: boolean;
};

/** The subcommand. */
export function tsdbImportCommand(finish: (status: number) => void): Command {
  return withTsdbOptions(new Command('import'))
    .description(
      'Copy databases, policies, continuous queries, users and points from a running InfluxDB 1.x, or read a file of `influx_inspect export`.',
    )
    .option('--from <url>', 'the server to copy from; http://user:password@host:8086')
    .option('--file <file>', 'an export instead')
    .option('--compressed', 'accepted for older scripts: gzip is recognised')
    .option(
      '--database <name>',
      'with --from only this database (repeatable), with --file where points go that name none',
      collect,
    )
    .option('--notify', 'subscriptions and tasks get the points, too, as if they were new')
    .option(
      '--state <file>',
      'file with the progress, so that an interrupted import can resume',
      './tidemark-import.json',
    )
    .option('--no-users', 'do not copy users')
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (flags: Flags) => {
      const to = tsdbClient(flags, 600_000);
      if ((flags.from === undefined) === (flags.file === undefined))
        throw new UsageError('give either --from URL or --file FILE');
      if (flags.file !== undefined) return finish(await runFileImport(flags, flags.file, to));
      const report = await runImport(flags, flags.from ?? '', to);
      if (flags.json === true) printJson(report);
      else printReport(report, flags.notify === true);
      finish(report.mismatches.length === 0 ? ExitStatus.Ok : ExitStatus.Failed);
    });
}

async function runFileImport(flags: Flags, path: string, to: TsdbClient): Promise<ExitStatus> {
  const { database = [], notify = false } = flags;
  if (database.length > 1)
    throw new UsageError('--database with --file names the one where points go that name none');
  const result = await importFile(to, {
    path,
    precision: 'ns',
    consistency: '',
    database: database[0] ?? '',
    pointsPerSecond: 0,
    notify,
  });
  if (flags.json === true) printJson({ ...result, notified: notify });
  else {
    print(`${result.inserts} points imported, ${result.failedInserts} failed`);
    for (const error of describeErrors(result)) print(error);
    if (!notify) print(NOT_NOTIFIED);
  }
  return isComplete(result) ? ExitStatus.Ok : ExitStatus.Failed;
}

function runImport(flags: Flags, from: string, to: TsdbClient): Promise<ImportReport> {
  const source = new TsdbClient({ url: from, timeoutMs: 600_000 });
  return withStepBar((onProgress) =>
    importServer({
      from: source,
      to,
      state: ImportState.open(flags.state, source.http.url),
      databases: flags.database ?? [],
      hasUsers: flags.users,
      notify: flags.notify === true,
      onProgress,
    }),
  );
}

function printReport(report: ImportReport, notified: boolean): void {
  print(
    `${report.databases} databases, ${report.measurements} measurements, ${report.points} points, ${report.continuousQueries} continuous queries`,
  );
  for (const { name, password } of report.users)
    print(`user ${name} has the new password ${password}`);
  for (const { name, database, policy, mode, destinations } of report.subscriptionsLeftOut)
    print(
      `not copied: subscription ${name} on ${database}.${policy} (${mode} ${destinations}); make it again where it is still wanted`,
    );
  if (!notified) print(NOT_NOTIFIED);
  if (report.mismatches.length === 0) print('counts and sums are the same on both servers');
  for (const { measurement, text } of report.mismatches) print(`DIFFERENT ${measurement}: ${text}`);
}
