// Describes a directory: shards, segments, measurements, bytes per value, and encodings.
import type { FieldType } from '@tidemark/core';
import type { Damage, ShardDescriptor } from '@tidemark/storage-api';

import { ByteReader } from '../columns/bytes.ts';
import { damageOf } from '../damage.ts';
import { indexDirectory, segmentPath } from '../disk/paths.ts';
import type { ManifestShard } from '../manifest/manifest.ts';
import type { SegmentMeasurement } from '../segment/format.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { indexFileName } from '../series/index-log.ts';
import { scanFrames } from '../disk/frames.ts';
import { decodeAdditions } from '../series/index-additions.ts';
import { openSegment, withDirectory } from './directory.ts';
import type { OpenDirectory, ToolOptions } from './directory.ts';
import { encodingName } from './encodings.ts';

export type ColumnReport = {
  readonly name: string;
  readonly type: FieldType | 'time';
  readonly values: number;
  readonly bytes: number;
  /** Number of blocks by name of their encoding. */
  readonly encodings: Readonly<Record<string, number>>;
};

export type MeasurementReport = {
  readonly measurementId: number;
  readonly name: string;
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

/**
 * Describes a directory that no engine has open. Reads the bytes of every chunk, but does not
 * decode them.
 */
export function inspectDirectory(
  options: ToolOptions & { readonly shardId?: number | undefined },
): Promise<readonly ShardReport[]> {
  return withDirectory(options, async (open) => {
    const shards = open.manifest.shards.filter(
      ({ descriptor }) => options.shardId === undefined || descriptor.id === options.shardId,
    );
    const totalBytes = shards
      .flatMap((shard) => shard.segments)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const names = measurementNames(open);
    let doneBytes = 0;
    return shards.map((shard): ShardReport => {
      const { descriptor, tombstones } = shard;
      const segments = shard.segments.map((info): SegmentReport => {
        const file = segmentPath(open.directory, descriptor.id, info.fileId);
        options.onProgress?.({ doneBytes, totalBytes, file });
        doneBytes += info.sizeBytes;
        return inspectSegment(open, shard, { info, names: names.get(descriptor.database) ?? [] });
      });
      return { descriptor, tombstones: tombstones.length, segments };
    });
  });
}

function inspectSegment(
  open: OpenDirectory,
  shard: ManifestShard,
  { info, names }: { readonly info: SegmentInfo; readonly names: readonly string[] },
): SegmentReport {
  try {
    const segment = openSegment(open, shard, info);
    try {
      const measurements = segment.footer.measurements.map((measurement) =>
        inspectMeasurement(segment, measurement, names[measurement.measurementId]),
      );
      return { ...info, measurements, damage: undefined };
    } finally {
      segment.close();
    }
  } catch (error) {
    return { ...info, measurements: [], damage: damageOf(error, '') };
  }
}

type Tally = {
  readonly name: string;
  readonly type: FieldType | 'time';
  values: number;
  bytes: number;
  readonly encodings: Record<string, number>;
};

function inspectMeasurement(
  segment: Segment,
  measurement: SegmentMeasurement,
  name = `\u0000lost ${measurement.measurementId}`,
): MeasurementReport {
  const newTally = (column: string, type: Tally['type']): Tally => ({
    name: column,
    type,
    values: 0,
    bytes: 0,
    encodings: {},
  });
  const time = newTally('time', 'time');
  const columns = measurement.fields.map((field) => newTally(field.name, field.type));
  let chunks = 0;
  for (const page of measurement.pages) {
    for (const entry of segment.pageEntries(measurement, page)) {
      for (const chunk of entry.chunks) {
        chunks++;
        const bytes = segment.blocks.rawChunk(chunk);
        addBlock(time, { count: chunk.rows, bytes: chunk.timeBytes, block: bytes });
        for (const column of chunk.columns) {
          const tally = columns[column.field];
          if (tally === undefined) continue;
          const start = column.offset - chunk.timeOffset + column.validBytes;
          addBlock(tally, {
            count: column.count,
            bytes: column.validBytes + column.valueBytes,
            block: bytes.subarray(start, start + column.valueBytes),
          });
        }
      }
    }
  }
  const { measurementId, rows, series } = measurement;
  return { measurementId, name, series: series.length, rows, chunks, columns: [time, ...columns] };
}

function addBlock(
  tally: Tally,
  { count, bytes, block }: { count: number; bytes: number; block: Uint8Array },
): void {
  tally.values += count;
  tally.bytes += bytes;
  const encoding = encodingName(block);
  tally.encodings[encoding] = (tally.encodings[encoding] ?? 0) + 1;
}

/** Names of measurements by database and id, as far as the index file can be read. */
function measurementNames({ disk, directory, manifest }: OpenDirectory): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, instance, indexFile = instance } of manifest.databases) {
    const names: string[] = [];
    found.set(name, names);
    const path = `${indexDirectory(directory)}/${indexFileName(indexFile)}`;
    if (!disk.exists(path)) continue;
    const file = disk.open(path, 'read');
    try {
      for (const payload of scanFrames(file).payloads) {
        const { firstMeasurementId, measurements } = decodeAdditions(new ByteReader(payload));
        measurements.forEach((measurement, i) => {
          names[firstMeasurementId + i] = measurement;
        });
      }
    } finally {
      file.close();
    }
  }
  return found;
}
