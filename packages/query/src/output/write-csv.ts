// CSV answers: one table per list of columns. Statements without rows and failing statements print nothing.
import { columnValue, Corruption, escapeTagPart } from '@tidemark/core';

import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';
import { TextBuffer } from './bytes.ts';
import { RowBudget } from './chunks.ts';
import { decimalText } from './number-text.ts';
import { EPOCH_NANOS } from './time-text.ts';
import { statementError } from './write-json.ts';
import type { Epoch, ResultFormat, StatementRun } from './write-results.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';

const PIECE_BYTES = 64 * 1024;

/** Runs the statements and yields their rows. Chunks do not matter: the rows are the same. */
export function* writeCsv(
  statements: readonly StatementRun[],
  format: ResultFormat,
): Operator<Uint8Array> {
  const out = new TextBuffer();
  const budget = new RowBudget(format.chunkRows === undefined ? format.maxRows : undefined);
  let hasHeader = false;
  for (const statement of statements) {
    budget.startStatement();
    let header: readonly string[] | undefined;
    let rowCount = 0;
    try {
      for (const batch of statement.run()) {
        if (isPause(batch)) {
          yield batch;
          continue;
        }

        const shown = budget.take(batch);
        if (shown === undefined) break;
        if (shown.rowCount === 0) continue;
        if (header === undefined || !sameColumns(header, shown.columns)) {
          if (hasHeader) out.ascii('\n');
          header = shown.columns;
          hasHeader = true;
          out.text(`${['name', 'tags', ...header].map(csvCell).join(',')}\n`);
        }
        appendRows(out, shown, format.epoch ?? 'ns');
        rowCount += shown.rowCount;
        if (out.length >= PIECE_BYTES) yield out.take();
        if (budget.isOver) break;
      }
      statement.onEnd?.({ rowCount, error: undefined });
    } catch (cause) {
      statement.onEnd?.({ rowCount, error: cause });
      // Nothing at all, or a part, would look like the answer.
      if (cause instanceof Corruption) throw cause;
      // The text has no place in a table; `statementError` throws on what is no error of the statement.
      statementError(cause);
      break;
    }
  }
  yield out.take();
}

function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

function appendRows(out: TextBuffer, batch: ResultBatch, epoch: Epoch): void {
  const tags = [...(batch.tags ?? [])]
    .map(([key, value]) => `${escapeTagPart(key)}=${escapeTagPart(value)}`)
    .join(',');
  const start = `${csvCell(batch.name ?? '')},${csvCell(tags)}`;
  for (let row = 0; row < batch.rowCount; row++) {
    let line = start;
    for (let i = 0; i < batch.values.length; i++) {
      line += `,${cellText(batch.values[i]!, row, i === 0 ? epoch : 'ns')}`;
    }
    out.text(`${line}\n`);
  }
}

function cellText(column: ResultColumn, row: number, epoch: Epoch): string {
  switch (column.type) {
    case 'time':
      return String(column.values[row]! / EPOCH_NANOS[epoch]);
    case 'mixed':
      return valueText(column.values[row] ?? null);
    default:
      return valueText(columnValue(column, row));
  }
}

function valueText(value: MixedValue): string {
  switch (typeof value) {
    case 'number':
      return floatCell(value);
    case 'string':
      return csvCell(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? '' : csvCell(value.join(','));
  }
}

function floatCell(value: number): string {
  if (Number.isNaN(value)) return '';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return decimalText(value);
}

const NEEDS_QUOTES = /[",\r\n]|^\s|^\\\.$/;

/** A cell, quoted where the format needs it. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
