// The rows of a part of a series that satisfy a condition, with the wanted columns.
import type { FieldRef } from '@tidemark/query';

import { scans } from '../columns/codecs.ts';
import type { Run } from '../columns/run.ts';
import { filterRun } from '../columns/run.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { convertColumn } from './convert.ts';
import { conditionColumn, evaluate, rowsOfChunk, rowsOfRun } from './row-filter.ts';
import type { RowFilter } from './row-filter.ts';
import { convertRun } from './series-reader.ts';
import type { SeriesPart } from './series-reader.ts';

/**
 * The condition is evaluated first: of the other columns of a chunk, only the rows that it keeps
 * are decoded.
 */
export function keptRows(
  part: SeriesPart,
  { condition, fields }: RowFilter,
  wanted: readonly FieldRef[],
): Run {
  const columnIndex = conditionColumn(fields, wanted.length);
  if (part.chunk !== undefined && condition !== undefined) {
    const mask = evaluate(condition, rowsOfChunk(part.chunk), columnIndex);
    return chosenRows(part.chunk, wanted, mask);
  }
  const run = part.load();
  const kept: Run = { times: run.times, columns: run.columns.slice(0, wanted.length) };
  if (condition === undefined) return kept;
  return filterRun(kept, evaluate(condition, rowsOfRun(run), columnIndex));
}

function chosenRows(chunk: ChunkReader, wanted: readonly FieldRef[], mask: Uint8Array): Run {
  if (!mask.includes(1)) {
    return { times: new BigInt64Array(), columns: wanted.map(() => undefined) };
  }
  const run = chunk.chosen(mask, wanted.length);
  if (run !== undefined) return convertRun(run, wanted);
  const times = scans().selectTimes(chunk.times, mask);
  const columns = wanted.map(({ type }, i) => {
    const column = chunk.column(i, times.length === mask.length ? undefined : mask);
    return column && convertColumn(column, type);
  });
  return { times, columns };
}
