// Measures how much of a flush is done; back-pressure lets writes proceed in proportion.
import type { MemtableTables } from '../memtable/memtables.ts';

/** Share of a flush's time for writing segments; the rest is for the index and the manifest. */
const SEGMENTS_SHARE = 0.9;

export class FlushProgress {
  readonly #total: number;
  readonly #report: (done: number) => void;
  #rows = 0;
  /** Rows of the shards that are written completely. */
  #whole = 0;

  /** `report` is called with the share that is done, 0 to 1. */
  constructor(shards: readonly MemtableTables[], report: (done: number) => void) {
    this.#total = shards.reduce((sum, tables) => sum + rowsOf(tables), 0);
    this.#report = report;
  }

  wroteRows(count: number): void {
    this.#rows += count;
    this.#report((SEGMENTS_SHARE * this.#rows) / Math.max(1, this.#total));
  }

  /** The tables of a shard are written; earlier attempts may have written some of their rows. */
  wrote(tables: MemtableTables): void {
    this.#whole += rowsOf(tables);
    this.wroteRows(this.#whole - this.#rows);
  }
}

function rowsOf(tables: MemtableTables): number {
  let rows = 0;
  for (const table of tables.values()) rows += table.rows;
  return rows;
}
