// Which memtables and tables exist in linear memory, under the ids that callers see.
import { assert, Unavailable } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import { FIELD_TYPE_CODES, fieldTypeOf } from './field-codes.ts';
import type { IngestHost, MemtableId, TableId, TableInfo } from './ingest-types.ts';
import type { Kernels } from './loader.ts';
import type { Names } from './names.ts';

type MemtableRecord = {
  readonly id: MemtableId;
  readonly address: number;
  readonly shardId: number;
  /** Measurement number -> address of its table. */
  readonly tables: Map<number, number>;
};

/** Memtables of one instance of the kernels. */
export class Memtables {
  readonly #kernels: Kernels;
  readonly #names: Names;
  readonly #active = new Map<number, MemtableRecord>();
  readonly #all = new Map<MemtableId, MemtableRecord>();
  readonly #tableIds = new Map<number, TableId>();
  readonly #tableAddresses = new Map<TableId, number>();
  #nextMemtable = 1;
  #nextTable = 1;

  constructor(kernels: Kernels, names: Names) {
    this.#kernels = kernels;
    this.#names = names;
  }

  /** Address of the active table of a shard and measurement, with the types that the shard already has. */
  ensureTable(shardId: number, measurement: number, host: Pick<IngestHost, 'fieldTypes'>): number {
    const memtable = this.#active.get(shardId) ?? this.#createMemtable(shardId);
    const known = memtable.tables.get(measurement);
    if (known !== undefined) return known;
    const { exports } = this.#kernels;
    const table = checkAddress(exports.createTable(memtable.address, measurement));
    for (const [field, type] of host.fieldTypes(shardId, this.#names.measurement(measurement))) {
      const number = this.#names.fieldNumber(measurement, this.#names.encode(field));
      if (exports.columnOf(table, number) !== 0) continue;
      checkAddress(exports.addColumn(table, number, FIELD_TYPE_CODES[type]));
    }
    memtable.tables.set(measurement, table);
    const id = tableId(this.#nextTable++);
    this.#tableIds.set(table, id);
    this.#tableAddresses.set(id, table);
    return table;
  }

  tableId(address: number): TableId {
    const id = this.#tableIds.get(address);
    assert(id !== undefined, 'every table in linear memory has an id');
    return id;
  }

  tableAddress(id: TableId): number {
    const address = this.#tableAddresses.get(id);
    assert(address !== undefined, 'a table is not used after its memtable was freed');
    return address;
  }

  active(shardId: number): MemtableId | undefined {
    return this.#active.get(shardId)?.id;
  }

  seal(shardId: number): MemtableId | undefined {
    const memtable = this.#active.get(shardId);
    if (memtable === undefined) return undefined;
    this.#active.delete(shardId);
    this.#kernels.exports.forgetTables();
    return memtable.id;
  }

  free(id: MemtableId): void {
    const memtable = this.#all.get(id);
    assert(memtable !== undefined, 'a memtable is freed once');
    if (this.#active.get(memtable.shardId) === memtable) this.seal(memtable.shardId);
    this.#all.delete(id);
    for (const table of memtable.tables.values()) {
      this.#tableAddresses.delete(this.tableId(table));
      this.#tableIds.delete(table);
    }
    this.#kernels.exports.freeMemtable(memtable.address);
  }

  tables(id: MemtableId): TableInfo[] {
    const memtable = this.#all.get(id);
    assert(memtable !== undefined, 'a memtable is not used after it was freed');
    const { exports } = this.#kernels;
    const infos: TableInfo[] = [];
    for (const [measurement, table] of memtable.tables) {
      const rowCount = exports.tableRows(table);
      if (rowCount === 0) continue;
      infos.push({
        table: this.tableId(table),
        measurement: this.#names.measurement(measurement),
        rowCount,
        minTime: exports.tableMinTime(table),
        maxTime: exports.tableMaxTime(table),
        fields: this.#fields(table, measurement),
      });
    }
    return infos;
  }

  #fields(table: number, measurement: number): { name: string; type: FieldType }[] {
    const { exports } = this.#kernels;
    const fields: { name: string; type: FieldType }[] = [];
    const count = exports.tableColumns(table);
    for (let i = 0; i < count; i++) {
      if (exports.columnHasValues(table, i) === 0) continue;
      fields.push({
        name: this.#names.field(measurement, exports.columnField(table, i)),
        type: columnType(exports.columnType(table, i)),
      });
    }
    return fields;
  }

  #createMemtable(shardId: number): MemtableRecord {
    const memtable: MemtableRecord = {
      id: memtableId(this.#nextMemtable++),
      address: checkAddress(this.#kernels.exports.createMemtable(shardId)),
      shardId,
      tables: new Map(),
    };
    this.#active.set(shardId, memtable);
    this.#all.set(memtable.id, memtable);
    return memtable;
  }
}

/** The type of a number that the kernels gave. */
export function columnType(code: number): FieldType {
  const type = fieldTypeOf(code);
  assert(type !== undefined, 'columns in linear memory have one of the five types');
  return type;
}

/** Throws when an allocation in linear memory failed. */
export function checkAddress(address: number): number {
  if (address === 0) throw new Unavailable('kernel memory is exhausted');
  return address >>> 0;
}

function tableId(value: number): TableId {
  return value as TableId;
}

function memtableId(value: number): MemtableId {
  return value as MemtableId;
}
