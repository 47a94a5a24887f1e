// `tidemark tsdb export`: exports a running database as a file of statements and line protocol.
import { createWriteStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { MAX_TIME, MIN_TIME, parseRfc3339 } from '@tidemark/core';
import { Command, InvalidArgumentError } from 'commander';

import { exportServer } from '../import-server/export-server.ts';
import type { ExportReport } from '../import-server/export-server.ts';
import { withStepBar } from '../output/progress.ts';
import { printJson } from '../output/table.ts';
import { tsdbClient, withTsdbOptions } from './connection.ts';
import { collect } from './engine-client/context.ts';

type Flags = {
  readonly url?: string;
  readonly token?: string;
  readonly user?: string;
  readonly out: string;
  readonly compress?: boolean;
  readonly database?: readonly string[];
  readonly retention?: string;
  readonly start?: bigint;
  readonly end?: bigint;
  readonly linesOnly?: boolean;
  readonly json?: boolean;
};

/**
 * The subcommand. The report goes to standard error, because the export itself may go to standard
 * output.
 */
export function tsdbExportCommand(): Command {
  return withTsdbOptions(new Command('export'))
    .description(
      'Write databases, policies and points of a running database (ours or an InfluxDB 1.x) as line protocol, which `tsdb import --file` and `shell --import` read.',
    )
    .option('--out <file>', 'where to write; - is standard output', '-')
    .option('--compress', 'gzip it')
    .option('--database <name>', 'only this database; repeatable', collect)
    .option('--retention <name>', 'only this retention policy')
    .option('--start <time>', 'points from then on, RFC 3339', timeOf)
    .option('--end <time>', 'points before then, RFC 3339', timeOf)
    .option('--lines-only', 'no statements that make databases and policies')
    .option('--json', 'print the report as JSON')
    .exitOverride()
    .action(async (flags: Flags) => {
      const report = await runExport(flags);
      if (flags.json === true && flags.out !== '-') return printJson(report);
      process.stderr.write(
        `${report.databases} databases, ${report.measurements} measurements, ${report.points} points exported\n`,
      );
    });
}

function timeOf(text: string): bigint {
  const time = parseRfc3339(text);
  if (time === undefined) throw new InvalidArgumentError('write it as 2024-05-01T00:00:00Z');
  return time;
}

async function runExport(flags: Flags): Promise<ExportReport> {
  const text = new PassThrough();
  const file = flags.out === '-' ? process.stdout : createWriteStream(flags.out);
  // Standard output must not be ended; a file is complete when the pipeline has ended.
  const written = pipeline([text, ...(flags.compress === true ? [createGzip()] : []), file], {
    end: flags.out !== '-',
  });
  // If reading fails first, that is the error to report.
  written.catch(() => undefined);
  try {
    const exported = withStepBar((onProgress) =>
      exportServer({
        from: tsdbClient(flags, 600_000),
        to: text,
        databases: flags.database ?? [],
        retentionPolicy: flags.retention,
        range: { start: flags.start ?? MIN_TIME, end: flags.end ?? MAX_TIME },
        isLinesOnly: flags.linesOnly === true,
        onProgress,
      }),
    );
    // A full disk ends the pipeline, and nobody drains `text` any more.
    const report = await Promise.race([exported, written.then(() => exported)]);
    text.end();
    await written;
    return report;
  } finally {
    text.destroy();
  }
}
