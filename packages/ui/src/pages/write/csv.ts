// Tables as text (RFC 4180), and the points of their rows, column by column.
import { escapeMeasurement, escapeTagPart } from '@tidemark/core';

/**
 * Cells of a text; the separator is the most frequent of comma, semicolon and tab in the first
 * line.
 */
export function parseCsv(text: string): readonly (readonly string[])[] {
  const [head = ''] = text.split('\n', 1);
  const separator = [',', ';', '\t'].toSorted(
    (a, b) => head.split(b).length - head.split(a).length,
  )[0];
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] ?? '';
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') {
        cell += '"';
        i++;
      } else isQuoted = false;
    } else if (letter === '"' && cell === '') isQuoted = true;
    else if (letter === separator) {
      row.push(cell);
      cell = '';
    } else if (letter === '\n') {
      row.push(cell);
      rows.push(row);
      row = [];
      cell = '';
    } else if (letter !== '\r') cell += letter;
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell]);
  return rows.filter((cells) => cells.some((each) => each !== ''));
}

export const ROLES = ['ignore', 'time', 'tag', 'float', 'integer', 'boolean', 'string'] as const;
export type Role = (typeof ROLES)[number];

/** Guesses the role of a column: by its name, then by its contents. */
export function guessRole(name: string, values: readonly string[]): Role {
  const given = values.filter((value) => value !== '');
  if (/^(time|timestamp|date|datetime|ts)$/i.test(name.trim())) return 'time';
  if (given.length === 0) return 'ignore';
  if (given.every((value) => /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value))) return 'float';
  if (given.every((value) => /^(?:true|false)$/i.test(value))) return 'boolean';
  return 'tag';
}

export type Mapping = {
  readonly measurement: string;
  readonly columns: readonly { readonly name: string; readonly role: Role }[];
};

/**
 * Lines of rows. Rows without fields give no line; times are copied if they are digits, or parsed
 * as instants.
 */
export function linesOf(
  rows: readonly (readonly string[])[],
  { measurement, columns }: Mapping,
  unitMs: number,
): readonly string[] {
  return rows.flatMap((row) => {
    const key = [escapeMeasurement(measurement)];
    const fields: string[] = [];
    let time = '';
    columns.forEach(({ name, role }, at) => {
      const cell = row[at]?.trim() ?? '';
      if (cell === '' || role === 'ignore') return;
      if (role === 'time') time = timeText(cell, unitMs);
      else if (role === 'tag') key.push(`${escapeTagPart(name)}=${escapeTagPart(cell)}`);
      else fields.push(`${escapeTagPart(name)}=${fieldText(cell, role)}`);
    });
    return fields.length === 0 ? [] : [`${key.join(',')} ${fields.join(',')} ${time}`.trim()];
  });
}

function fieldText(cell: string, role: Role): string {
  if (role === 'string') return `"${cell.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  return role === 'integer' ? `${cell}i` : cell;
}

function timeText(cell: string, unitMs: number): string {
  if (/^-?\d+$/.test(cell)) return cell;
  const ms = Date.parse(cell);
  // An invalid time stays, and the check of the line reports it.
  return Number.isNaN(ms) ? cell : String(BigInt(Math.round(ms / unitMs)));
}
