// Rows of a series whose texts are copied in frames, as they are stored, when chunks become one.
import type { Column } from '@tidemark/core';

import { codecs } from '../columns/codecs.ts';
import { concatRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { CHUNK_TEXT_BYTES } from '../columns/run-texts.ts';
import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import type { SegmentWriter } from '../segment/writer.ts';

/** A column of texts without nulls as it is stored. */
export type PackedTexts = {
  /** In frames that can be joined. */
  readonly block: Uint8Array;
  /** Of its texts, unpacked. */
  readonly textBytes: number;
  /** Reads and unpacks it. */
  readonly column: () => Column;
};

/** Rows of one series; `columns` lacks the fields that are packed. */
export type PackedRun = Run & {
  readonly packed: ReadonlyMap<number, PackedTexts>;
  /** Of all texts, unpacked. */
  readonly textBytes: number;
};

/** Writes runs that follow one another as chunks of the present series. */
export function* writeRuns(
  writer: SegmentWriter,
  runs: readonly PackedRun[],
): Generator<undefined, void> {
  if (runs.every(({ packed }) => packed.size === 0)) {
    yield* writer.addRunInSteps(concatRuns(runs));
    return;
  }
  for (const chunk of chunksOf(runs)) {
    if (canJoin(chunk)) yield* writeJoined(writer, chunk);
    else yield* writer.addRunInSteps(concatRuns(chunk.map(unpacked)));
  }
}

/** Runs that become a chunk together, about equally many rows each. */
function chunksOf(runs: readonly PackedRun[]): readonly (readonly PackedRun[])[] {
  const { rows, textBytes } = sizesOf(runs);
  const count = Math.max(Math.ceil(rows / MAX_CHUNK_ROWS), Math.ceil(textBytes / CHUNK_TEXT_BYTES));
  const chunks: PackedRun[][] = Array.from({ length: count }, () => []);
  let first = 0;
  for (const run of runs) {
    const middle = first + run.times.length / 2;
    chunks[Math.floor((middle * count) / rows)]!.push(run);
    first += run.times.length;
  }
  return chunks.filter((chunk) => chunk.length > 0);
}

function sizesOf(runs: readonly PackedRun[]): {
  readonly rows: number;
  readonly textBytes: number;
} {
  let rows = 0;
  let textBytes = 0;
  for (const run of runs) {
    rows += run.times.length;
    textBytes += run.textBytes;
  }
  return { rows, textBytes };
}

/** Whether all have the same packed fields, and are no more than a chunk may have. */
function canJoin(runs: readonly PackedRun[]): boolean {
  const { rows, textBytes } = sizesOf(runs);
  if (rows > MAX_CHUNK_ROWS || (runs.length > 1 && textBytes > CHUNK_TEXT_BYTES)) return false;
  const fields = [...runs[0]!.packed.keys()];
  return runs.every(({ packed }) => {
    return packed.size === fields.length && fields.every((field) => packed.has(field));
  });
}

function* writeJoined(
  writer: SegmentWriter,
  runs: readonly PackedRun[],
): Generator<undefined, void> {
  const { times, columns } = concatRuns(runs);
  yield* writer.addColumnsInSteps(times, (field) => {
    if (!runs[0]!.packed.has(field)) return columns[field];
    return codecs().texts.joinFrames(runs.map(({ packed }) => packed.get(field)!.block));
  });
}

function unpacked({ times, columns, packed }: PackedRun): Run {
  return { times, columns: columns.map((column, field) => packed.get(field)?.column() ?? column) };
}
