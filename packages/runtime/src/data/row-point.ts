// Points that refer to rows in the columns of their write.
import type { Group } from './group.ts';
import { Point } from './point.ts';
import type { RowSource } from './row-source.ts';
import type { Series } from './series.ts';

const NO_OWN: readonly never[] = [];

/** The point of a row of a write. */
export function rowPoint(
  source: RowSource,
  row: number,
  owner: { readonly series: Series; readonly group: Group },
): Point {
  const block = source.blocks[source.blockOfRow === undefined ? 0 : (source.blockOfRow[row] ?? 0)];
  const rowInBlock = source.rowInBlock === undefined ? row : (source.rowInBlock[row] ?? 0);
  return new Point(
    source.timeAt(row),
    owner.series,
    owner.group,
    (block as RowSource['blocks'][number]).schema,
    (block as RowSource['blocks'][number]).rows,
    rowInBlock,
    NO_OWN,
    source.origin,
  );
}
