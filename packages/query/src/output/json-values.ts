// Cells as JSON. One printer per column, chosen once per batch; hot loops write bytes and build no
// strings.
import { assert, PRECISION_NANOS, textAt } from '@tidemark/core';
import type { Precision, StringColumn } from '@tidemark/core';

import { openZone } from '../analyse/zone.ts';
import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';
import type { TextBuffer } from './bytes.ts';
import { appendFloat, appendInteger } from './number-text.ts';
import { TimePrinter } from './time-text.ts';

const QUOTE = 0x22;

/** Appends the cell of a row. */
export type CellPrinter = (row: number, out: TextBuffer) => void;

const NULL: CellPrinter = (_row, out) => out.ascii('null');

/** Printers of a batch's columns; times of the first column take the format of the request. */
export function jsonPrinters(
  batch: ResultBatch,
  epoch: Precision | undefined,
): readonly CellPrinter[] {
  return batch.values.map((column, i) => {
    if (column.type === 'time') return timePrinter(column, batch, i === 0 ? epoch : undefined);
    const print = valuePrinter(column);
    if (column.type === 'mixed' || column.valid === undefined) return print;
    const { valid } = column;
    return (row, out) => (valid[row] === 1 ? print(row, out) : NULL(row, out));
  });
}

function timePrinter(
  column: Extract<ResultColumn, { type: 'time' }>,
  batch: ResultBatch,
  epoch: Precision | undefined,
): CellPrinter {
  const { values } = column;
  if (epoch !== undefined) {
    const divisor = PRECISION_NANOS[epoch];
    return (row, out) => out.ascii(String(values[row]! / divisor));
  }
  const printer = new TimePrinter(openZone(batch.timeZone));
  return (row, out) => {
    out.byte(QUOTE);
    printer.append(values[row]!, out);
    out.byte(QUOTE);
  };
}

/** The printer of a column without nulls; `quoted` is the text of a string. */
export function valuePrinter(
  column: Exclude<ResultColumn, { type: 'time' }>,
  quoted: (text: string) => string = jsonText,
): CellPrinter {
  switch (column.type) {
    case 'float': {
      const { values } = column;
      return (row, out) => appendFloat(values[row]!, out);
    }
    case 'integer':
    case 'unsigned': {
      const { values } = column;
      return (row, out) => appendInteger(values[row]!, out);
    }
    case 'boolean': {
      const { values } = column;
      return (row, out) => out.ascii(values[row] === 1 ? 'true' : 'false');
    }
    case 'string':
      return textPrinter(column, quoted);
    case 'mixed': {
      const { values } = column;
      return (row, out) => appendMixed(values[row] ?? null, out);
    }
  }
}

function textPrinter(
  { codes, texts }: StringColumn,
  quoted: (text: string) => string,
): CellPrinter {
  return (row, out) => out.text(quoted(textAt(texts, codes[row]!)));
}

function appendMixed(value: MixedValue, out: TextBuffer): void {
  switch (typeof value) {
    case 'string':
      out.text(jsonText(value));
      return;
    case 'number':
      appendFloat(value, out);
      return;
    case 'bigint':
      appendInteger(value, out);
      return;
    case 'boolean':
      out.ascii(value ? 'true' : 'false');
      return;
    default:
      if (value === null) {
        out.ascii('null');
        return;
      }
      assert(Array.isArray(value), 'a cell is a scalar or a list');
      out.text(`[${value.map((item) => jsonText(String(item))).join(',')}]`);
  }
}

const ESCAPED = /[<>&\u2028\u2029]/g;
/** Matches most names and values of tags. */
const IS_PLAIN = /^[\w .:/@=+-]*$/;
const NEEDS_ESCAPE = /[<>&\u2028\u2029]/;

/** A JSON string with the escapes of InfluxDB: HTML's special characters as `\u003c`. */
export function jsonText(text: string): string {
  if (IS_PLAIN.test(text)) return `"${text}"`;
  return escapedJson(JSON.stringify(text));
}

/** JSON in which `<`, `>` and `&` are escaped. */
export function escapedJson(json: string): string {
  if (!NEEDS_ESCAPE.test(json)) return json;
  return json.replace(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
