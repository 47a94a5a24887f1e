// Result rows: the form of points and batches in httpOut, httpPost and alert data, and their JSON.
import type { FieldValue } from '@tidemark/core';
import { formatRfc3339 } from '@tidemark/core';
import { formatFloatPlain } from '../lambda/text.ts';
import type { ResultRow } from '../services.ts';
import type { Batch, Point } from './point.ts';
import { outputValue } from './point.ts';
import type { Field, Schema } from './schema.ts';

/** Row of a single point: all of its tags, its fields sorted by name. */
export function pointRow(point: Point): ResultRow {
  const fields = point.schema.sorted;
  const columns = ['time'];
  const values: (FieldValue | null)[] = [point.time];
  for (const field of fields) {
    columns.push(field.name);
    values.push(outputValue(field.type, field.read(point)));
  }
  const row = { name: point.series.name, columns, values: [values] };
  return point.series.values.length === 0 ? row : { ...row, tags: point.series.tags };
}

/**
 * Row of a batch: group tags; the columns are the fields and the tags outside the group of the
 * first point. Other points fill them by field, else by tag, else with null.
 */
export function batchRow(batch: Batch): ResultRow {
  const tags = batch.series.values.length === 0 ? undefined : batch.series.tags;
  const first = batch.points[0];
  if (first === undefined) return { name: batch.name, ...(tags === undefined ? {} : { tags }) };
  const names = new Set(first.schema.indexOf.keys());
  for (const tag of first.series.keys.names) {
    if (!batch.series.keys.indexOf.has(tag)) names.add(tag);
  }
  const columns = [...names].sort();
  const readers = new Map<Schema, readonly (Field | undefined)[]>();
  const values = batch.points.map((point) => {
    let fields = readers.get(point.schema);
    if (fields === undefined) {
      const { schema } = point;
      fields = columns.map((name) => schema.field(name));
      readers.set(schema, fields);
    }
    const row: (FieldValue | null)[] = [point.time];
    for (let i = 0; i < columns.length; i++) {
      const field = fields[i];
      if (field !== undefined) row.push(outputValue(field.type, field.read(point)));
      else row.push(point.series.tag(columns[i] ?? '') ?? null);
    }
    return row;
  });
  const row = { name: batch.name, columns: ['time', ...columns], values };
  return tags === undefined ? row : { ...row, tags };
}

/**
 * A float as Go's JSON encoder prints it: exponents below 1e-6 and from 1e21. Infinities and NaN,
 * which JSON lacks, are texts, `"+Inf"`, `"-Inf"` or `"NaN"`: an alert must neither be lost nor
 * hide its value.
 */
export function jsonFloat(value: number): string {
  if (!Number.isFinite(value)) return `"${formatFloatPlain(value)}"`;
  if (Object.is(value, -0)) return '-0';
  return String(value);
}

function jsonValue(value: FieldValue | null): string {
  switch (typeof value) {
    case 'number':
      return jsonFloat(value);
    case 'string':
      return jsonString(value);
    default:
      return String(value);
  }
}

const HTML = /[<>&\u2028\u2029]/g;
/** Text that needs no escape between quotes; lone surrogates need one. */
const PLAIN = /^[ !#-%'-;=?-[\]-\u007f]*$/;

/** A JSON string with `<`, `>` and `&` escaped, as Go's encoder does. */
export function jsonString(text: string): string {
  // Names and short values, nearly always.
  if (PLAIN.test(text)) return `"${text}"`;
  const json = JSON.stringify(text);
  return json.replace(HTML, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A row as JSON. */
export function rowJson(row: ResultRow): string {
  let json = `{"name":${jsonString(row.name)}`;
  if (row.tags !== undefined && Object.keys(row.tags).length > 0) {
    const tags = Object.entries(row.tags).sort(([a], [b]) => (a < b ? -1 : 1));
    json += `,"tags":{${tags.map(([k, v]) => `${jsonString(k)}:${jsonString(v)}`).join(',')}}`;
  }
  if (row.columns !== undefined) json += `,"columns":[${row.columns.map(jsonString).join(',')}]`;
  if (row.values !== undefined) {
    const rows = row.values.map(
      ([time, ...values]) =>
        `["${formatRfc3339(time as bigint)}"${values.map((value) => `,${jsonValue(value)}`).join('')}]`,
    );
    json += `,"values":[${rows.join(',')}]`;
  }
  return `${json}}`;
}

/** The whole body: `{"series":[…]}`, or `{"series":null}` without rows. */
export function rowsJson(rows: readonly ResultRow[]): string {
  if (rows.length === 0) return '{"series":null}';
  return `{"series":[${rows.map(rowJson).join(',')}]}`;
}
