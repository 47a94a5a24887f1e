// `tidemark tsdb import`: moves a running InfluxDB 1.x server, or a file of its export tool, into a running Tidemark.
import { TsdbClient } from '@tidemark/client';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../exit.ts';
import { importServer } from '../import-server/import-server.ts';
import type { ImportReport } from '../import-server/import-server.ts';
import { ImportState } from '../import-server/state.ts';
import { withStepBar } from '../output/progress.ts';
import { print, printJson } from '../output/table.ts';
import { importFile } from '../shell/import.ts';
import { collect } from './engine-client/context.ts';

type Flags = {
  readonly from?: string;
  readonly file?: string;
  readonly compressed?: boolean;
  readonly url: string;
  readonly database?: readonly string[];
  readonly state: string;
  readonly users: boolean;
  readonly json?: boolean;
};

/** The subcommand. */
export function tsdbImportCommand(finish: (status: number) => void): Command {
  return new Command('import')
    .description(
      'Copy databases, policies, continuous queries, users and points from a running InfluxDB 1.x, or read a file of `influx_inspect export`.',
    )
    .option('--from <url>', 'the server to copy from; http://user:password@host:8086')
    .option('--file <file>', 'an export instead')
    .option('--compressed', 'the export is gzipped')
    .option('--url <url>', 'the running Tidemark', 'http://127.0.0.1:8086')
    .option('--database <name>', 'only this database; repeatable', collect)
    .option(
      '--state <file>',
      'what is done, so that an interrupted import goes on',
      './tidemark-import.json',
    )
    .option('--no-users', 'do not copy users')
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (flags: Flags) => {
      const to = new TsdbClient({ url: flags.url, timeoutMs: 600_000 });
      if ((flags.from === undefined) === (flags.file === undefined))
        throw new UsageError('give either --from URL or --file FILE');
      if (flags.file !== undefined) {
        const result = await importFile(to, {
          path: flags.file,
          isCompressed: flags.compressed === true,
          precision: 'ns',
          consistency: '',
          database: '',
          pointsPerSecond: 0,
        });
        if (flags.json === true) printJson(result);
        else
          print(
            `${result.inserts} points imported, ${result.failedInserts} failed${result.errors.map((error) => `\n${error}`).join('')}`,
          );
        finish(
          result.failedInserts === 0 && result.errors.length === 0
            ? ExitStatus.Ok
            : ExitStatus.Failed,
        );
        return;
      }
      const report = await runImport(flags, flags.from ?? '', to);
      if (flags.json === true) printJson(report);
      else printReport(report);
      finish(report.mismatches.length === 0 ? ExitStatus.Ok : ExitStatus.Failed);
    });
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
      onProgress,
    }),
  );
}

function printReport(report: ImportReport): void {
  print(
    `${report.databases} databases, ${report.measurements} measurements, ${report.points} points, ${report.continuousQueries} continuous queries`,
  );
  for (const { name, password } of report.users)
    print(`user ${name} has the new password ${password}`);
  if (report.mismatches.length === 0) print('counts and sums are the same on both servers');
  for (const { measurement, text } of report.mismatches) print(`DIFFERENT ${measurement}: ${text}`);
}
