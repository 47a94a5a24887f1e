// Finds the fields that a reader wants in a segment. Measurements may have tens of thousands of
// fields, and a reader may want one of them or all, so neither list is searched for each element of
// the other.
import type { ChunkMeta, ColumnMeta, SegmentMeasurement } from './format.ts';

/** For so few names, comparing them with each field costs less than a map of them. */
const SEARCHED_NAMES = 4;

type Named = { readonly name: string };

/** Index in the segment of each wanted field, -1 if missing. */
export function placesOfFields(
  { fields }: Pick<SegmentMeasurement, 'fields'>,
  wanted: readonly Named[],
): Int32Array {
  if (wanted.length <= SEARCHED_NAMES) {
    return Int32Array.from(wanted, ({ name }) => fields.findIndex((field) => field.name === name));
  }
  const byName = new Map<string, number>();
  for (let i = 0; i < fields.length; i++) byName.set(fields[i]!.name, i);
  return Int32Array.from(wanted, ({ name }) => byName.get(name) ?? -1);
}

/** The column of a chunk for each of the places; `undefined` when the chunk lacks it. */
export function columnsAt(
  { columns }: Pick<ChunkMeta, 'columns'>,
  places: Int32Array,
): (ColumnMeta | undefined)[] {
  const found: (ColumnMeta | undefined)[] = [];
  if (places.length <= SEARCHED_NAMES) {
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      // In a chunk with all fields it is at the field's own index.
      const likely = place < 0 ? undefined : columns[place];
      const isThere = place < 0 || likely?.field === place;
      found.push(isThere ? likely : columns.find(({ field }) => field === place));
    }
    return found;
  }
  let end = 0;
  for (let i = 0; i < columns.length; i++)
    if (columns[i]!.field >= end) end = columns[i]!.field + 1;
  const indexes = new Int32Array(end).fill(-1);
  for (let i = 0; i < columns.length; i++) indexes[columns[i]!.field] = i;
  for (const place of places) found.push(columns[indexes[place] ?? -1]);
  return found;
}
