// Copies sorted rows of a table out of linear memory.
import { Unavailable } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import { checkResult } from './codec-error.ts';
import type { SortedRows, TableRead } from './ingest-types.ts';
import type { Kernels } from './loader.ts';
import { checkAddress, columnType } from './memtables.ts';
import type { Names } from './names.ts';

const SCRATCH_IDS = 21;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Reads the table at `table`; see `Ingest.read`. */
export function readTable(
  kernels: Kernels,
  names: Names,
  table: number,
  options: TableRead = {},
): SortedRows {
  const { exports } = kernels;
  select(kernels, table, options);
  const rows = exports.selectedRows();
  const series = exports.selectedSeries();
  const seriesIds = copyUint32(kernels, exports.selectedSeriesIds(), series);
  const rowStarts =
    series === 0 ? new Uint32Array(1) : copyUint32(kernels, exports.selectedStarts(), series + 1);
  const times = new BigInt64Array(copyBytes(kernels, exports.selectedTimes(), rows * 8));
  const columns: (Column | undefined)[] = [];
  for (const field of fieldNumbers(kernels, names, table, options.fields)) {
    columns.push(
      field === undefined ? undefined : gatherColumn(kernels, names, { table, field, rows }),
    );
  }
  return { seriesIds, rowStarts, times, columns };
}

function select(kernels: Kernels, table: number, options: TableRead): void {
  const { exports } = kernels;
  const rowLimit = options.rowLimit ?? exports.tableRows(table);
  const start = options.start ?? INT64_MIN;
  const end = options.end ?? INT64_MAX;
  const { series } = options;
  let isDone: number;
  if (series === undefined) {
    isDone = exports.selectAll(table, rowLimit, start, end);
  } else {
    const ids = kernels.scratch(SCRATCH_IDS, series.byteLength);
    new Uint32Array(kernels.bytes.buffer, ids, series.length).set(series);
    isDone = exports.selectSeries(table, ids, series.length, rowLimit, start, end);
  }
  if (isDone === 0) throw new Unavailable('kernel memory is exhausted');
}

function fieldNumbers(
  kernels: Kernels,
  names: Names,
  table: number,
  fields: readonly string[] | undefined,
): (number | undefined)[] {
  const { exports } = kernels;
  if (fields === undefined) {
    const numbers: number[] = [];
    for (let i = 0; i < exports.tableColumns(table); i++) {
      if (exports.columnHasValues(table, i) !== 0) numbers.push(exports.columnField(table, i));
    }
    return numbers;
  }
  const measurement = exports.tableMeasurement(table);
  return fields.map((name) => {
    const number = names.findField(measurement, name);
    return number === undefined || exports.columnOf(table, number) === 0 ? undefined : number;
  });
}

type Gather = { readonly table: number; readonly field: number; readonly rows: number };

function gatherColumn(kernels: Kernels, names: Names, gather: Gather): Column {
  const { exports } = kernels;
  const { table, field, rows } = gather;
  const type = fieldType(kernels, table, field);
  const values = checkAddress(exports.gather(table, field));
  const width = type === 'boolean' ? 1 : 8;
  const valid =
    exports.gatherNulls() === 0
      ? undefined
      : new Uint8Array(copyBytes(kernels, values + rows * width, rows));
  if (type === 'string') return { type, ...stringValues(kernels, names, values, rows), valid };
  const bytes = copyBytes(kernels, values, rows * width);
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(bytes), valid };
    case 'integer':
      return { type, values: new BigInt64Array(bytes), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(bytes), valid };
    case 'boolean':
      return { type, values: new Uint8Array(bytes), valid };
  }
}

function fieldType(kernels: Kernels, table: number, field: number): FieldType {
  // The first word of a column in linear memory is its type.
  const column = kernels.exports.columnOf(table, field) >>> 0;
  return columnType(new DataView(kernels.bytes.buffer).getUint32(column, true));
}

function stringValues(
  kernels: Kernels,
  names: Names,
  references: number,
  rows: number,
): { codes: Uint32Array; dictionary: string[] } {
  const { exports } = kernels;
  const count = checkResult(exports.codeStrings(references, rows), 'strings');
  const codes = copyUint32(kernels, exports.stringCodes(), rows);
  const entries = copyUint32(kernels, exports.stringReferences(), count * 2);
  const bytes = kernels.bytes;
  const dictionary: string[] = [];
  for (let i = 0; i < count; i++) {
    const start = entries[2 * i]!;
    dictionary.push(names.decode(bytes.subarray(start, start + entries[2 * i + 1]!)));
  }
  return { codes, dictionary };
}

function copyBytes(kernels: Kernels, address: number, sizeBytes: number): ArrayBuffer {
  const start = address >>> 0;
  return kernels.buffer.slice(start, start + sizeBytes);
}

function copyUint32(kernels: Kernels, address: number, count: number): Uint32Array {
  return new Uint32Array(copyBytes(kernels, address, count * 4));
}
