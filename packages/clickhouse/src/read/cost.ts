// The cost of a scan and its statements, for EXPLAIN.
import { waitFor } from '@tidemark/query';
import type { CostRequest, RequestOptions, SourceCost, Steps } from '@tidemark/query';

import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { pointsTable } from '../sql/tables.ts';
import { aggregateStatement, reducedOf } from './aggregate-statement.ts';
import { columnsOf } from './columns.ts';
import { findSeries, seriesQuestion } from './find-series.ts';
import { partsOf } from './parts.ts';
import { pointsStatement, readOptions } from './scan.ts';
import type { ReadParts } from './scan.ts';

/** Counts parts as files and marks as blocks, of whole shard groups with all fields. */
export function* cost(
  { cluster, registry, pageRows }: ReadParts,
  request: CostRequest,
  options: RequestOptions,
): Steps<SourceCost> {
  const { source, timeRange, where } = request;
  const { measurement } = source;
  const statements: string[] = [];
  const total = { shards: 0, series: 0, files: 0, blocks: 0, blockBytes: 0 };
  for (const part of partsOf(registry, { ...source, timeRange })) {
    const scope = { cluster, registry, part, measurement, where };
    const question = seriesQuestion(scope);
    const read = readOptions(cluster, options);
    const series = yield* waitFor(findSeries(cluster, question, read));
    total.shards += part.groups.length;
    total.series += series.length;
    statements.push(question.statement);
    const fields = request.fields.flatMap((name) =>
      Array.from(registry.typesOf(part.groups, measurement, name), (type) => ({ name, type })),
    );
    const { aggregate } = request;
    const columns = columnsOf(registry, part, { measurement, fields });
    if (aggregate !== undefined) {
      const asked = { ...scope, where: aggregate.where };
      for (const reduced of reducedOf(asked, aggregate))
        statements.push(aggregateStatement(asked, aggregate, reduced));
    } else if (columns.length > 0) {
      const scan = { source, fields, timeRange, where, descending: false, groupBy: [] };
      const run = { scope, columns, request: scan, options, pageRows };
      statements.push(pointsStatement(run, { timeRange, series: 'series IN (…)' }));
    }
    const groups = part.groups.map(({ id }) => sqlText(String(id))).join(', ');
    const sizes = yield* waitFor(
      cluster.rowsOfAll(
        `SELECT count(), sum(marks), sum(bytes_on_disk) FROM system.parts
         WHERE active AND database = ${sqlText(cluster.settings.database)}
           AND table = ${sqlText(pointsTable(part.policyId))} AND partition IN (${groups})`,
        read,
      ),
    );
    for (const reader of sizes.map((answer) => new RowReader(answer))) {
      if (!reader.hasMore) continue; // The shard does not answer.
      total.files += Number(reader.uint64());
      total.blocks += Number(reader.uint64());
      total.blockBytes += Number(reader.uint64());
    }
  }
  return { ...total, cachedValues: 0, statements };
}
