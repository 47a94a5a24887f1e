// From influxdb.conf or kapacitor.conf to a configuration of Tidemark, and a list of what has no counterpart.
import type { ConfigSchema } from '@tidemark/core';
import { stringify } from 'smol-toml';

export type ConversionNote = { readonly key: string; readonly message: string };

export type Conversion = { readonly toml: string; readonly notes: readonly ConversionNote[] };

type Table = Record<string, unknown>;

/** Sections that are named differently here. */
const SECTION_NAMES: Readonly<Record<string, string>> = { influxdb: 'tsdb', slack: 'chat' };

/** Settings that existed there and mean nothing here, with what is true instead. */
const WITHOUT_COUNTERPART: Readonly<Record<string, string>> = {
  'reporting-disabled': 'nothing is ever reported to anybody',
  'bind-address': 'backups go through the HTTP API and the executable; there is no port for them',
  'meta.logging-enabled': 'the log level decides',
  'data.wal-dir': 'the log lies in the data directory',
  'data.index-version': 'there is one kind of index, on disk, with bounded memory',
  'data.cache-max-memory-size': 'memory is bounded by design',
  'data.cache-snapshot-memory-size': 'flushes are decided by the engine',
  'data.cache-snapshot-write-cold-duration': 'flushes are decided by the engine',
  'data.compact-full-write-cold-duration': 'compaction converges by itself',
  'data.max-concurrent-compactions': 'compaction yields to writes and queries by itself',
  'data.compact-throughput': 'compaction yields to writes and queries by itself',
  'data.compact-throughput-burst': 'compaction yields to writes and queries by itself',
  'http.flux-enabled': 'Flux is not supported',
  reporting: 'nothing is ever reported to anybody',
  storage: 'metadata lies in the data directory',
};

function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

/** Converts a parsed file. Keys that are known keep their values; everything else is in the notes. */
export function convertConfig(tables: Readonly<Table>, schema: ConfigSchema): Conversion {
  const result: Table = {};
  const notes: ConversionNote[] = [];
  const note = (key: string): void => {
    notes.push({
      key,
      message:
        WITHOUT_COUNTERPART[key] ??
        WITHOUT_COUNTERPART[key.split('.')[0] ?? ''] ??
        'no counterpart',
    });
  };
  const keep = (path: string, table: Table, known: ReadonlySet<string>): Table => {
    const kept: Table = {};
    for (const [key, value] of Object.entries(table)) {
      if (known.has(key)) kept[key] = value;
      else note(path === '' ? key : `${path}.${key}`);
    }
    return kept;
  };
  for (const [name, value] of Object.entries(tables)) {
    const target = SECTION_NAMES[name] ?? name;
    const section = schema[target];
    if (section === undefined || target === '') {
      if (schema['']?.keys[name] !== undefined) result[name] = value;
      else note(name);
      continue;
    }
    const known = new Set(Object.keys(section.keys));
    if (Array.isArray(value)) {
      const kept = value.filter(isTable).map((table) => keep(name, table, known));
      result[target] = section.isRepeated ? kept : (kept[0] ?? {});
    } else if (isTable(value)) {
      const kept = keep(name, value, known);
      result[target] = section.isRepeated ? [kept] : kept;
    } else note(name);
  }
  return { toml: `${stringify(result)}\n`, notes };
}
