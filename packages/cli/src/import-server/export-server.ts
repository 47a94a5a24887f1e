// Exports a running server as a file of statements and line protocol, which every import of this
// kind reads.
import { once } from 'node:events';
import type { Writable } from 'node:stream';

import type { TsdbClient } from '@tidemark/client';
import { formatRfc3339 } from '@tidemark/core';
import { quoteIdentifier } from '@tidemark/influxql';

import type { ImportProgress } from './import-server.ts';
import { readLines } from './lines.ts';
import type { CopyRange } from './lines.ts';
import { measurementsOf, piecesOf } from './pieces.ts';
import { policySettings, readDatabases } from './source-schema.ts';
import type { SourceDatabase } from './source-schema.ts';

export type ExportOptions = {
  readonly from: TsdbClient;
  /** Receives the text; not ended. */
  readonly to: Writable;
  /** Empty exports all but `_internal`. */
  readonly databases: readonly string[];
  /** Only this policy. */
  readonly retentionPolicy?: string | undefined;
  /** Points from `start` to before `end`. */
  readonly range: CopyRange;
  /** Omit the statements that create databases and policies. */
  readonly isLinesOnly: boolean;
  readonly onProgress: (progress: ImportProgress) => void;
};

export type ExportReport = {
  readonly databases: number;
  readonly measurements: number;
  readonly points: number;
};

/** Runs the export, with back pressure from `to`. */
export async function exportServer(options: ExportOptions): Promise<ExportReport> {
  const { from, to, range, retentionPolicy } = options;
  const write = async (text: string): Promise<void> => {
    if (!to.write(text)) await once(to, 'drain');
  };
  const databases = (await readDatabases(from, options.databases)).map((database) => ({
    ...database,
    policies: database.policies.filter(
      ({ name }) => retentionPolicy === undefined || name === retentionPolicy,
    ),
  }));
  const refs = await measurementsOf(from, databases);
  const pieces = await piecesOf(from, refs);
  await write(`# TIDEMARK EXPORT: ${formatRfc3339(range.start)} - ${formatRfc3339(range.end)}\n`);
  if (!options.isLinesOnly) await write(definitions(databases));
  await write('# DML\n');
  let points = 0;
  let place = '';
  for (const [i, { ref, range: shard }] of pieces.entries()) {
    options.onProgress({ done: i, total: pieces.length, label: ref.measurement, points });
    const wanted = intersect(shard, range);
    if (wanted === undefined) continue;
    for await (const lines of readLines(from, ref, wanted)) {
      const context = `# CONTEXT-DATABASE:${ref.database}\n# CONTEXT-RETENTION-POLICY:${ref.policy}\n`;
      if (context !== place) await write(context);
      place = context;
      await write(`${lines.join('\n')}\n`);
      points += lines.length;
    }
  }
  options.onProgress({ done: pieces.length, total: pieces.length, label: '', points });
  return { databases: databases.length, measurements: refs.length, points };
}

function definitions(databases: readonly SourceDatabase[]): string {
  const statements = databases.flatMap(({ name, policies }) => [
    `CREATE DATABASE ${quoteIdentifier(name)}`,
    ...policies.map(
      (policy) =>
        // The line above creates the database with its default policy.
        `${policy.name === 'autogen' ? 'ALTER' : 'CREATE'} RETENTION POLICY ${quoteIdentifier(policy.name)} ON ${quoteIdentifier(name)} ${policySettings(policy)}`,
    ),
  ]);
  return `# DDL\n${statements.join('\n')}\n`;
}

function intersect(a: CopyRange, b: CopyRange): CopyRange | undefined {
  const start = a.start > b.start ? a.start : b.start;
  const end = a.end < b.end ? a.end : b.end;
  return start < end ? { start, end } : undefined;
}
