// Three readers of lines agree on any body: the database's kernel, the tasks' kernel, and the
// reference, the parser of `@tidemark/line-protocol`.
import { inspect } from 'node:util';

import { columnValue, fieldTypeOf, formatSeriesKey } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import { IngestKernel, Kernels, RowBuffers, SeriesKeys } from '@tidemark/kernels';
import { lineErrorMessage, parseLines } from '@tidemark/line-protocol';
import type { LinePoint } from '@tidemark/line-protocol';
import { lineBody, steadyLineBody } from '@tidemark/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { PointBatch } from '../point-batch.ts';
import { WriteParser } from './parse-write.ts';

const NOW = 1_600_000_000_123_456_789n;
const utf8 = new TextEncoder();
const bodies = fc.array(
  fc.tuple(fc.oneof(lineBody, steadyLineBody), fc.constantFrom('ns', 'u', 'ms', 's', 'm', 'h')),
  { minLength: 1, maxLength: 4 },
);

/** A point in words: series, time, and the last value of each field. */
type Row = readonly [series: string, time: bigint, fields: Readonly<Record<string, FieldValue>>];

test('any bodies, one after the other, mean the same to the tasks as to the parser', () => {
  fc.assert(
    fc.property(bodies, (writes) => {
      const parser = new WriteParser();
      for (const [text, precision] of writes) {
        const body = utf8.encode(text);
        const expected = parseLines(body, { precision, now: NOW });

        const { batch, errors } = parser.parse(body, {
          database: 'd',
          retentionPolicy: 'r',
          precision,
          now: NOW,
        });

        expect(errors).toEqual(expected.errors);
        expect(rowsOfBatch(batch)).toEqual(expected.points.map(rowOf));
      }
    }),
    { numRuns: 400 },
  );
});

test('any bodies, one after the other, mean the same to the database as to the parser', () => {
  fc.assert(
    fc.property(bodies, (writes) => {
      const series = new SeriesKeys(new Kernels());
      const ingest = new IngestKernel({ series, parseLine: (line, how) => parseLines(line, how) });
      const types = new Map<string, FieldType>();
      for (const [text, precision] of writes) {
        const body = utf8.encode(text);
        const { points, errors } = parseLines(body, { precision, now: NOW });
        const accepted = points
          .map((point) => acceptedRow(point, types))
          .filter((row) => row !== undefined);

        const batch = ingest.parseLines(
          body,
          { precision, now: NOW },
          {
            shardFor: () => ({ id: 1, start: -(2n ** 63n), end: 2n ** 63n }),
            fieldTypes: () => [],
          },
        );

        expect(batch.parseErrors).toEqual(errors.map(lineErrorMessage));
        expect(batch.dropped?.count ?? 0).toBe(points.length - accepted.length);
        const rows = batch.tables.flatMap((table) => {
          const { seriesIds, times, columns } = table.copyRows(new RowBuffers());
          return Array.from(times, (time, row): Row => {
            const values = table.fields.map(({ name }, i) => [name, columnValue(columns[i]!, row)]);
            const key = new TextDecoder().decode(series.key(seriesIds[row]!));
            return [key, time, present(values as [string, FieldValue | null][])];
          });
        });
        expect(byText(rows)).toEqual(byText(accepted));
      }
    }),
    { numRuns: 300 },
  );
});

function rowOf({ series, fields, time }: LinePoint): Row {
  return [series.key, time, Object.fromEntries(fields) as Record<string, FieldValue>];
}

/**
 * The row that the database stores for a point; `undefined` when it refuses it. Types are those of
 * the first values.
 */
function acceptedRow(point: LinePoint, types: Map<string, FieldType>): Row | undefined {
  const fields = point.fields.filter(([name]) => name !== 'time');
  if (fields.length === 0 || point.tags.some(([key]) => key === 'time')) return undefined;
  const seen = new Map<string, FieldType>();
  for (const [name, value] of fields) {
    const field = JSON.stringify([point.measurement, name]);
    const type = fieldTypeOf(value as FieldValue);
    if ((types.get(field) ?? seen.get(field) ?? type) !== type) return undefined;
    seen.set(field, type);
  }
  for (const [field, type] of seen) types.set(field, type);
  return rowOf({ ...point, fields });
}

function rowsOfBatch(batch: PointBatch): Row[] {
  return Array.from({ length: batch.rowCount }, (_, row): Row => {
    const series = batch.series.at(batch.seriesOfRow[row]!)!;
    const block = batch.blocks[batch.blockOfRow?.[row] ?? 0]!;
    const inBlock = batch.rowInBlock?.[row] ?? row;
    const values = block.columns.map(
      (column, i) => [block.fieldNames[i]!, columnValue(column, inBlock)] as const,
    );
    const tags = series.tagKeys.map((key, i) => [key, series.tagValues[i]!] as const);
    return [formatSeriesKey(series.name, tags), batch.times[row]!, present(values)];
  });
}

function present(
  values: readonly (readonly [string, FieldValue | null])[],
): Record<string, FieldValue> {
  return Object.fromEntries(
    values.filter((entry): entry is [string, FieldValue] => entry[1] !== null),
  );
}

/** Rows have no order among tables. */
function byText(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => inspect(row, { sorted: true, depth: 3 })).toSorted();
}
