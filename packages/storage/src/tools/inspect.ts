// What is in a directory: shards, segments, measurements, bytes per value and encodings.
import type { FieldType } from '@tidemark/core';

import type { ShardDescriptor } from '../shard/shard.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { damageOf, openSegment, withDirectory } from './directory.ts';
import type { Damage, ToolOptions } from './directory.ts';

export type ColumnReport = {
  readonly name: string;
  readonly type: FieldType | 'time';
  readonly values: number;
  readonly bytes: number;
};

export type MeasurementReport = {
  readonly measurementId: number;
  readonly series: number;
  readonly rows: number;
  readonly chunks: number;
  readonly columns: readonly ColumnReport[];
};

export type SegmentReport = SegmentInfo & {
  readonly measurements: readonly MeasurementReport[];
  readonly damage: Damage | undefined;
};

export type ShardReport = {
  readonly descriptor: ShardDescriptor;
  readonly tombstones: number;
  readonly segments: readonly SegmentReport[];
};

/** Looks at a directory that no engine has open. Reads directories, not values. */
export function inspectDirectory(
  options: ToolOptions & { readonly shardId?: number | undefined },
): Promise<readonly ShardReport[]> {
  return withDirectory(options, async (open) => {
    const reports: ShardReport[] = [];
    for (const shard of open.manifest.shards) {
      if (options.shardId !== undefined && shard.descriptor.id !== options.shardId) continue;
      const segments = shard.segments.map((info): SegmentReport => {
        try {
          const segment = openSegment(open, shard, info);
          try {
            return { ...info, measurements: measurementsOf(segment), damage: undefined };
          } finally {
            segment.close();
          }
        } catch (error) {
          return { ...info, measurements: [], damage: damageOf(error, '') };
        }
      });
      const { descriptor, tombstones } = shard;
      reports.push({ descriptor, tombstones: tombstones.length, segments });
    }
    return reports;
  });
}

function measurementsOf(segment: Segment): MeasurementReport[] {
  return segment.footer.measurements.map((measurement) => {
    const time = { name: 'time', type: 'time' as const, values: 0, bytes: 0 };
    const columns = measurement.fields.map(({ name, type }) => ({
      name,
      type,
      values: 0,
      bytes: 0,
    }));
    let chunkCount = 0;
    for (const page of measurement.pages) {
      for (const chunks of segment.page(measurement, page).values()) {
        for (const chunk of chunks) {
          chunkCount++;
          time.values += chunk.rows;
          time.bytes += chunk.timeBytes;
          for (const column of chunk.columns) {
            const report = columns[column.field];
            if (report === undefined) continue;
            report.values += column.count;
            report.bytes += column.validBytes + column.valueBytes;
          }
        }
      }
    }
    const { measurementId, rows } = measurement;
    const series = measurement.series.length;
    return { measurementId, series, rows, chunks: chunkCount, columns: [time, ...columns] };
  });
}
