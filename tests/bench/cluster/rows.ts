// The rows of the cluster's benchmarks: values of a thousand series, ten seconds apart, as line
// protocol and as ClickHouse's RowBinary. BENCH_ROWS (4,000,000).
import { idOf } from './cluster-service.ts';

export const ROWS = Number(process.env['BENCH_ROWS'] ?? 4_000_000);
export const SERIES = 1000;
export const START_SECONDS = 1_700_000_000;
const STEP_SECONDS = 10;
export const END_SECONDS = START_SECONDS + Math.ceil(ROWS / SERIES) * STEP_SECONDS;
const WEEK_SECONDS = 604_800;

/** The rows of one request. */
const ROWS_PER_BODY = 10_000;
/** Everything measured in one run, and loaded again when a run was ended in between. */
export const ROWS_PER_SLICE = 1_000_000;
export const SLICES = Math.ceil(ROWS / ROWS_PER_SLICE);

const ROW_BYTES = 57;

export const COLUMN = idOf('cpu\0usage\0float');

/** The key of a series, without its measurement. */
const tagsOf = (series: number): string => `dc=d${series % 10},host=h${series}`;
export const seriesIdOf = (series: number): bigint => idOf(`cpu,${tagsOf(series)}`);

const IDS = Array.from({ length: SERIES }, (_, i) => seriesIdOf(i));
const TAGS = Array.from({ length: SERIES }, (_, i) => tagsOf(i));

const valueOf = (row: number): number => ((row * 7919) % 100_000) / 16;
const timeOf = (row: number): number => START_SECONDS + Math.floor(row / SERIES) * STEP_SECONDS;

/** The first rows of the bodies of a slice. */
function bodiesOf(slice: number): readonly number[] {
  const first = slice * ROWS_PER_SLICE;
  const rows = Math.min(ROWS_PER_SLICE, ROWS - first);
  return Array.from(
    { length: Math.ceil(rows / ROWS_PER_BODY) },
    (_, i) => first + i * ROWS_PER_BODY,
  );
}

/** Bodies of line protocol, with times in seconds. */
export function linesOf(slice: number): readonly Buffer[] {
  return bodiesOf(slice).map((first) => {
    const lines: string[] = [];
    for (let row = first; row < Math.min(first + ROWS_PER_BODY, ROWS); row++)
      lines.push(`cpu,${TAGS[row % SERIES]} usage=${valueOf(row)} ${timeOf(row)}`);
    return Buffer.from(lines.join('\n'));
  });
}

/**
 * The rows that the service makes of the lines, for each of so many shards: column, hour, series,
 * time, f, i, s, version, grp.
 */
export function binaryOf(slice: number, shardCount: number): readonly (readonly Buffer[])[] {
  return bodiesOf(slice).map((first) => {
    const shards = Array.from({ length: shardCount }, () => ({
      bytes: Buffer.alloc(ROWS_PER_BODY * ROW_BYTES),
      at: 0,
    }));
    for (let row = first; row < Math.min(first + ROWS_PER_BODY, ROWS); row++) {
      const series = IDS[row % SERIES]!;
      const time = timeOf(row);
      const shard = shards[Number(series % BigInt(shardCount))]!;
      const { bytes, at } = shard;
      bytes.writeBigUInt64LE(COLUMN, at);
      bytes.writeInt32LE(Math.floor(time / 3600), at + 8);
      bytes.writeBigUInt64LE(series, at + 12);
      bytes.writeBigInt64LE(BigInt(time) * 1_000_000_000n, at + 20);
      bytes.writeDoubleLE(valueOf(row), at + 28);
      bytes.writeBigUInt64LE(BigInt(first), at + 45);
      bytes.writeUInt32LE(Math.floor(time / WEEK_SECONDS), at + 53);
      shard.at += ROW_BYTES;
    }
    return shards.map(({ bytes, at }) => bytes.subarray(0, at));
  });
}
