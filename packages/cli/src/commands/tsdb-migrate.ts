// `tidemark tsdb migrate`: moves databases between two running services, from files to a cluster or
// back, while they are written to.
import { TsdbClient } from '@tidemark/client';
import { Command } from 'commander';

import { ExitStatus } from '../exit.ts';
import { migrateServer } from '../import-server/migrate-server.ts';
import type { MigrateReport } from '../import-server/migrate-server.ts';
import { ImportState } from '../import-server/state.ts';
import { withStepBar } from '../output/progress.ts';
import { print, printJson } from '../output/table.ts';
import { collect } from './engine-client/context.ts';

type Flags = {
  readonly from: string;
  readonly to: string;
  readonly destination?: string;
  readonly database?: readonly string[];
  readonly state: string;
  readonly last?: boolean;
  readonly users: boolean;
  readonly json?: boolean;
};

/** The subcommand. */
export function tsdbMigrateCommand(finish: (status: number) => void): Command {
  return new Command('migrate')
    .description(
      'Move databases from one running service to another, whatever storage engine either has, while points keep arriving.',
    )
    .requiredOption(
      '--from <url>',
      'the service that has the points; http://user:password@host:8086',
    )
    .requiredOption('--to <url>', 'the service that gets them')
    .option('--destination <url>', 'where --from reaches --to, when that is another address')
    .option('--database <name>', 'only this database (repeatable)', collect)
    .option(
      '--state <file>',
      'file with the progress, so that an interrupted migration can resume',
      './tidemark-migrate.json',
    )
    .option('--last', 'clients use --to now: compare, and end the passing on of new writes')
    .option('--no-users', 'do not copy users')
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (flags: Flags) => {
      const [from, to] = [flags.from, flags.to].map(
        (url) => new TsdbClient({ url, timeoutMs: 600_000 }),
      );
      const report = await withStepBar((onProgress) =>
        migrateServer({
          from: from!,
          to: to!,
          destination: flags.destination ?? flags.to,
          state: ImportState.open(flags.state, `${from!.http.url} to ${to!.http.url}`),
          databases: flags.database ?? [],
          isLast: flags.last === true,
          hasUsers: flags.users,
          onProgress,
        }),
      );
      if (flags.json === true) printJson(report);
      else printReport(report, flags.last === true);
      finish(report.different.length === 0 ? ExitStatus.Ok : ExitStatus.Failed);
    });
}

function printReport(report: MigrateReport, isLast: boolean): void {
  const { databases, pieces, points, series, users, different } = report;
  print(`${databases} databases, ${pieces} pieces, ${points} points copied`);
  for (const { name, password } of users) print(`user ${name} has the new password ${password}`);
  for (const one of different) print(`DIFFERENT ${one}`);
  if (different.length > 0) {
    print('run the command again; new writes still go to both');
  } else if (isLast) {
    print(`${series} series are the same on both; new writes are not passed on any more`);
  } else {
    print(`${series} series are the same on both, and new writes go to both`);
    print('let clients use the new service, then run the command again with --last');
  }
}
