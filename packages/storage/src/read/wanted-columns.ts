// The columns that a request wants of rows, wherever these are: values in the stored type, or, for
// requests that count, only which rows have one (`presence.ts`).
import type { Column, FieldType } from '@tidemark/core';

import { presenceColumn } from '../columns/presence.ts';
import type { Run } from '../columns/run.ts';
import type { RowPick } from '../memtable/row-pick.ts';
import type { Table } from '../memtable/table.ts';
import type { ColumnMeta } from '../segment/format.ts';
import type { StoredRows } from '../shard/stored-rows.ts';
import { converts } from './convert.ts';
import type { WantedField } from './convert.ts';

export type Wanted = { readonly fields: readonly WantedField[]; readonly presenceOnly: boolean };

type Columns = Run['columns'];

/** Whether values of the stored type count as values of the field. */
function counts(stored: FieldType, { type }: WantedField): boolean {
  return converts(stored, type ?? stored);
}

/**
 * The columns of rows in a segment. `metas` are those of the fields; `read` reads one of them for
 * all the rows, given its place among them, too.
 */
export function columnsOfChunk(
  { stored, count }: StoredRows,
  metas: readonly (ColumnMeta | undefined)[],
  {
    fields,
    presenceOnly,
    read,
  }: Wanted & { readonly read: (meta: ColumnMeta, index: number) => Column },
): Columns {
  return metas.map((meta, i) => {
    if (meta === undefined || !presenceOnly) return meta && read(meta, i);
    const type = stored.fields[meta.field]?.type;
    if (type === undefined || !counts(type, fields[i]!)) return undefined;
    return presenceColumn(count, meta.validBytes === 0 ? undefined : read(meta, i).valid);
  });
}

/** The columns of rows in memory. */
export function columnsOfTable(
  table: Table,
  pick: RowPick,
  { fields, presenceOnly }: Wanted,
): Columns {
  return fields.map((field) => {
    const { name } = field;
    const type = table.typeOf(name);
    if (type === undefined || !presenceOnly) return type && pick.column({ name, type });
    return counts(type, field) ? pick.presence(name) : undefined;
  });
}
