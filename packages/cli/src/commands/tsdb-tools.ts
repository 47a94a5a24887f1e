// `tidemark tsdb verify|repair|inspect`: checks and repairs the files of a database that is not
// running.
import { join, resolve } from 'node:path';

import { formatRfc3339 } from '@tidemark/core';
import type { ShardReport } from '@tidemark/storage';
import type { Damage } from '@tidemark/storage-api';
import { Command, InvalidArgumentError } from 'commander';

import { ExitStatus } from '../exit.ts';
import { withByteBar } from '../output/progress.ts';
import { formatTable, humanBytes, print, printJson } from '../output/table.ts';
import { DEFAULT_DATA_DIRECTORY } from './serve.ts';

type Flags = { readonly dataDir: string; readonly json?: boolean | undefined };

/** The database's directory inside the data directory. */
function databaseDirectory(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'tsdb');
}

/** The storage engine's directory. */
function storageDirectory(dataDirectory: string): string {
  return join(databaseDirectory(dataDirectory), 'data');
}

function toolCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--data-dir <dir>',
      'data directory of the database',
      process.env['TIDEMARK_DATA_DIR'] ?? DEFAULT_DATA_DIRECTORY,
    )
    .option('--json', 'print JSON')
    .exitOverride();
}

function printDamage(damage: readonly (Damage & { readonly rows?: number | undefined })[]): void {
  for (const { file, offset, message, rows } of damage) {
    const place = message.includes(file) ? '' : `. file=\`${file}\` offset=${offset}`;
    print(`DAMAGED ${message}${place}${rows === undefined ? '' : ` rows=${rows}`}`);
  }
}

/** The subcommands. */
export function tsdbToolCommands(finish: (status: number) => void): readonly Command[] {
  return [verifyCommand(finish), repairCommand(finish), inspectCommand()];
}

function verifyCommand(finish: (status: number) => void): Command {
  return toolCommand(
    'verify',
    'Read every block of a database that is not running; exit status 1 when one is damaged, or a shard belongs to no database.',
  ).action(async (flags: Flags) => {
    const { verifyDirectory } = await import('@tidemark/storage');
    const { checkCatalog } = await import('@tidemark/tsdb');
    const catalog = await checkCatalog(databaseDirectory(flags.dataDir), { mends: false });
    const { policies } = catalog;
    const found = await withByteBar('verify', (onProgress) =>
      verifyDirectory({ directory: storageDirectory(flags.dataDir), policies, onProgress }),
    );
    const damage = [...found.damage, ...catalog.damage];
    const report = { ...found, files: found.files + 1, damage };
    if (flags.json === true) printJson(report);
    else {
      print(
        `${report.files} files, ${humanBytes(report.bytes)}, ${report.blocks} blocks, ${report.rows} rows`,
      );
      if (report.tornBytes > 0)
        print(
          `${report.tornBytes} bytes of an unfinished write at the end of the log; the next start cuts them off`,
        );
      printDamage(report.damage);
      for (const { file, message } of report.unwritten) print(`NOTE ${file}: ${message}`);
      for (const { message } of report.orphans) print(`ORPHAN ${message}; repair sets it aside`);
      if (report.damage.length === 0) print('everything is readable');
    }
    const isSound = report.damage.length === 0 && report.orphans.length === 0;
    finish(isSound ? ExitStatus.Ok : ExitStatus.Failed);
  });
}

function repairCommand(finish: (status: number) => void): Command {
  return toolCommand(
    'repair',
    'Keep the readable data of a database that is not running, and list the rest; exit status 1 when something is lost.',
  ).action(async (flags: Flags) => {
    const { repairDirectory } = await import('@tidemark/storage');
    const { checkCatalog } = await import('@tidemark/tsdb');
    const catalog = await checkCatalog(databaseDirectory(flags.dataDir), { mends: true });
    const { policies } = catalog;
    const repaired = await withByteBar('repair', (onProgress) =>
      repairDirectory({ directory: storageDirectory(flags.dataDir), policies, onProgress }),
    );
    const lost = [...repaired.lost, ...catalog.damage];
    const report = { ...repaired, lost, isCatalogMended: catalog.isMended };
    if (flags.json === true) printJson(report);
    else {
      print(
        `${report.segmentsChecked} segments checked, ${report.segmentsRewritten} rewritten, ${report.segmentsLost} lost, ${report.rowsKept} rows kept, ${report.logsRewritten} log files and ${report.indexesRewritten} series indexes rewritten`,
      );
      if (report.isManifestRebuilt) print('the manifest was made anew of the files of the shards');
      if (report.isCatalogMended) print('a damaged copy of the catalog was written anew');
      for (const { message } of report.setAside) print(`SET ASIDE ${message}`);
      printDamage(report.lost);
    }
    finish(report.lost.length === 0 ? ExitStatus.Ok : ExitStatus.Failed);
  });
}

function inspectCommand(): Command {
  return toolCommand('inspect', 'Show what is in the shards of a database that is not running.')
    .option('--shard <id>', 'only this shard', shardId)
    .action(async (flags: Flags & { readonly shard?: number }) => {
      const { inspectDirectory } = await import('@tidemark/storage');
      const shards = await withByteBar('inspect', (onProgress) =>
        inspectDirectory({
          directory: storageDirectory(flags.dataDir),
          shardId: flags.shard,
          onProgress,
        }),
      );
      if (flags.json === true) printJson(shards);
      else print(shards.map(describeShard).join('\n\n'));
    });
}

function shardId(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a shard id is a number');
  return Number(text);
}

/** `delta 12, packed 3`, most frequent first. */
function describeEncodings(encodings: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(encodings).sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

function describeShard({ descriptor, tombstones, segments }: ShardReport): string {
  const range = `${formatRfc3339(descriptor.start)} to ${formatRfc3339(descriptor.end)}`;
  const columns = segments.flatMap((segment) =>
    segment.measurements.flatMap((measurement) =>
      measurement.columns.map((column) => ({
        segment: segment.fileId,
        measurement: measurement.name,
        series: measurement.series,
        ...column,
      })),
    ),
  );
  return [
    `shard ${descriptor.id} of ${descriptor.database}.${descriptor.retentionPolicy}: ${range}, ${segments.length} segments, ${tombstones} tombstones`,
    formatTable(
      [
        { title: 'Segment', value: (row) => row.segment, isRightAligned: true },
        { title: 'Measurement', value: (row) => row.measurement },
        { title: 'Column', value: (row) => row.name },
        { title: 'Type', value: (row) => row.type },
        { title: 'Series', value: (row) => row.series, isRightAligned: true },
        { title: 'Values', value: (row) => row.values, isRightAligned: true },
        { title: 'Bytes', value: (row) => row.bytes, isRightAligned: true },
        {
          title: 'Bytes/value',
          value: (row) => (row.values === 0 ? '' : (row.bytes / row.values).toFixed(3)),
          isRightAligned: true,
        },
        { title: 'Encodings', value: (row) => describeEncodings(row.encodings) },
      ],
      columns,
    ),
  ].join('\n');
}
