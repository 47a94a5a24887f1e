// Exports the shown rows as files. Line protocol needs the types of fields, which are requested
// from the database.
import type { Cell } from '@tidemark/client';
import { printLossless } from '@tidemark/client';
import { csvCell, escapeMeasurement, escapeTagPart } from '@tidemark/core';
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import type { AnswerSeries, StatementAnswer } from '../../api/query-stream.ts';

/** One table: name, tags, then the columns of all series. */
export function toCsv(statements: readonly StatementAnswer[]): string {
  const all = statements.flatMap(({ series }) => series);
  const tags = [...new Set(all.flatMap((one) => Object.keys(one.tags)))];
  const columns = [...new Set(all.flatMap((one) => one.columns))];
  const lines = [['name', ...tags, ...columns].map(csvCell).join(',')];
  for (const one of all) {
    const head = [one.name, ...tags.map((tag) => one.tags[tag] ?? '')];
    const places = columns.map((column) => one.columns.indexOf(column));
    for (const row of one.rows) {
      const cells = [...head, ...places.map((at) => String(row[at] ?? ''))];
      lines.push(cells.map(csvCell).join(','));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** In the database's format. */
export function toJson(statements: readonly StatementAnswer[]): string {
  const results = statements.map(({ id, series, error }) => ({
    statement_id: id,
    ...(error === undefined ? {} : { error }),
    series: series.map(({ name, tags, columns, rows }) => ({ name, tags, columns, values: rows })),
  }));
  return printLossless({ results }, 2);
}

/** The columns of a measurement: types of its fields; everything else is a tag. */
async function typesOf(
  measurement: string,
  database: string,
): Promise<ReadonlyMap<string, string>> {
  const text = `SHOW FIELD KEYS FROM ${formatIdentifier(measurement)}`;
  const [series] = await tsdb.rows(text, { database });
  return new Map((series?.values ?? []).map((row) => [String(row[0]), String(row[1])]));
}

/** Raw rows as line protocol. A column that is no field of the measurement is a tag. */
export async function toLines(
  statements: readonly StatementAnswer[],
  database: string,
): Promise<string> {
  const lines: string[] = [];
  for (const one of statements.flatMap(({ series }) => series)) {
    const types = await typesOf(one.name, database);
    for (const row of one.rows) {
      const line = lineOf(one, row, types);
      if (line !== undefined) lines.push(line);
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function lineOf(
  { name, tags, columns }: AnswerSeries,
  row: readonly Cell[],
  types: ReadonlyMap<string, string>,
): string | undefined {
  const key = [escapeMeasurement(name)];
  for (const [tag, value] of Object.entries(tags)) {
    if (value !== '') key.push(`${escapeTagPart(tag)}=${escapeTagPart(value)}`);
  }
  const fields: string[] = [];
  let time = '';
  columns.forEach((column, at) => {
    const cell = row[at] ?? null;
    if (column === 'time') time = nanosOf(cell);
    else if (cell === null) return;
    else if (types.has(column) || typeof cell !== 'string') {
      fields.push(`${escapeTagPart(column)}=${fieldOf(cell, types.get(column))}`);
    } else if (cell !== '') key.push(`${escapeTagPart(column)}=${escapeTagPart(cell)}`);
  });
  return fields.length === 0 ? undefined : `${key.join(',')} ${fields.join(',')} ${time}`.trim();
}

function fieldOf(cell: Exclude<Cell, null>, type: string | undefined): string {
  if (typeof cell === 'string') return `"${cell.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  if (type === 'integer') return `${cell}i`;
  return type === 'unsigned' ? `${cell}u` : String(cell);
}

/** Nanoseconds of an RFC 3339 text, without loss. */
function nanosOf(cell: Cell): string {
  const match = /^(.*?)(?:\.(\d+))?Z$/.exec(String(cell));
  if (match === null) return '';
  const seconds = Date.parse(`${match[1]}Z`) / 1000;
  return String(BigInt(seconds) * 1_000_000_000n + BigInt((match[2] ?? '').padEnd(9, '0')));
}
