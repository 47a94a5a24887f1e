// Converts influxdb.conf or kapacitor.conf to a configuration of Tidemark, and lists settings
// without a counterpart.
import { own } from '@tidemark/core';
import { isLoopback, parseBind } from '@tidemark/process';
import type { ConfigLayer, ConfigProblem, ConfigSchema, ConfigSection } from '@tidemark/settings';

export type ConversionNote = { readonly key: string; readonly message: string };

export type Conversion = {
  /** The sections of one service. */
  readonly tables: Readonly<Table>;
  readonly notes: readonly ConversionNote[];
};

/** The configuration of a service, and its resolver. */
export type ConversionTarget = {
  readonly schema: ConfigSchema;
  readonly resolve: (layers: readonly ConfigLayer[]) => {
    readonly problems: readonly ConfigProblem[];
  };
};

type Table = Record<string, unknown>;

/** Sections with other names here. */
const SECTION_NAMES: Readonly<Record<string, string>> = { influxdb: 'tsdb', slack: 'chat' };

/** Settings without a counterpart, and what applies instead. */
const WITHOUT_COUNTERPART: Readonly<Record<string, string>> = {
  'reporting-disabled': 'no usage data is ever reported',
  'bind-address': 'backups go through the HTTP API and the executable; there is no port for them',
  data_dir: 'the old files stay where they are; --data-dir names a folder of our own',
  'meta.dir': 'the old files stay where they are; --data-dir names a folder of our own',
  'data.dir': 'the old files stay where they are; --data-dir names a folder of our own',
  'meta.logging-enabled': 'the log level decides',
  'data.wal-dir': 'the log is in the data directory',
  'data.index-version': 'there is one kind of index, on disk, with bounded memory',
  'data.cache-max-memory-size': 'memory is bounded by design',
  'data.cache-snapshot-memory-size': 'flushes are decided by the engine',
  'data.cache-snapshot-write-cold-duration': 'flushes are decided by the engine',
  'data.compact-full-write-cold-duration': 'compaction converges by itself',
  'data.max-concurrent-compactions': 'compaction yields to writes and queries by itself',
  'data.compact-throughput': 'compaction yields to writes and queries by itself',
  'data.compact-throughput-burst': 'compaction yields to writes and queries by itself',
  'data.max-index-log-file-size': 'the index decides by itself',
  'data.trace-logging-enabled': 'the log level decides',
  'data.tsm-use-madv-willneed': 'files are read, not mapped',
  'http.flux-enabled': 'Flux is not supported',
  'http.unix-socket-permissions': 'the folder of the socket decides who may use it',
  'http.write-tracing': 'the log level decides',
  'http.debug-pprof-enabled': 'profiles are taken from a running service: /debug/pprof',
  'http.access-log-status-filters': 'the access log has every request',
  'logging.suppress-logo': 'there is none',
  ifql: 'Flux is not supported',
  'opentsdb.consistency-level': 'there is one copy of everything',
  'reporting-enabled': 'no usage data is ever reported',
  'shard-precreation': 'shards are made when their first point arrives',
  reporting: 'no usage data is ever reported',
  storage: 'metadata is in the data directory',
};

function isTable(value: unknown): value is Table {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

/** Converts a parsed file. Known keys keep their values; everything else goes to the notes. */
export function convertConfig(tables: Readonly<Table>, target: ConversionTarget): Conversion {
  const { schema } = target;
  const problemsWith = (values: Table): readonly ConfigProblem[] =>
    target.resolve([{ source: '', values }]).problems;
  const result: Table = {};
  const notes: ConversionNote[] = [];
  const note = (key: string): void => {
    notes.push({
      key,
      message:
        own(WITHOUT_COUNTERPART, key) ??
        own(WITHOUT_COUNTERPART, key.split('.')[0] ?? '') ??
        'no counterpart',
    });
  };
  /** The problem with a value of a known key. */
  const problemOf = (section: string, key: string, value: unknown): string | undefined => {
    const table = { [key]: value };
    const values = { [section]: schema[section]?.isRepeated === true ? [table] : table };
    return problemsWith(values).find((problem) => problem.key === `${section}.${key}`)?.message;
  };
  const keep = (path: string, table: Table, name: string, section: ConfigSection): Table => {
    const kept: Table = {};
    for (const [key, value] of Object.entries(table)) {
      const setting = path === '' ? key : `${path}.${key}`;
      if (own(WITHOUT_COUNTERPART, setting) !== undefined || !Object.hasOwn(section.options, key)) {
        note(setting);
        continue;
      }
      const problem = problemOf(name, key, value);
      if (problem === undefined) kept[key] = value;
      // The old files leave something out by an empty text.
      else if (value !== '')
        notes.push({ key: setting, message: `${problem}; the default is used` });
    }
    return kept;
  };
  for (const [name, value] of Object.entries(tables)) {
    const ours = own(SECTION_NAMES, name) ?? name;
    const section = own(schema, ours);
    if (section === undefined || ours === '') {
      const isKnown = own(schema['']?.options ?? {}, name) !== undefined;
      // The resolver accepts more than the schema lists, such as `[udf.functions.name]`.
      const isMeant = isKnown || (isTable(value) && problemsWith({ [name]: value }).length === 0);
      const isEmpty = isTable(value) && Object.values(value).every(isEmptyTable);
      if (!isMeant || own(WITHOUT_COUNTERPART, name) !== undefined) note(name);
      else if (!isEmpty) result[name] = value;
      continue;
    }
    if (Array.isArray(value)) {
      const kept = value.filter(isTable).map((table) => keep(name, table, ours, section));
      result[ours] = section.isRepeated ? kept : (kept[0] ?? {});
    } else if (isTable(value)) {
      const kept = keep(name, value, ours, section);
      result[ours] = section.isRepeated ? [kept] : kept;
    } else note(name);
  }
  const address = reachableAddress(result);
  if (address !== undefined) {
    notes.push({
      key: 'http.bind-address',
      message: `${address} can be reached by others while authentication is off, so the start is refused: set http.auth-enabled, listen on 127.0.0.1, or insist with --insecure-no-auth`,
    });
  }
  if (schema['alert']?.options['allowed-programs'] !== undefined) {
    notes.push({
      key: 'alert.allowed-programs',
      message:
        'exec handlers run only programs that this lists, for example ["/usr/local/bin/*"]; log handlers and sideload nodes can use only files that alert.allowed-files lists, references to secrets only those that alert.allowed-secrets lists',
    });
  }
  // Contradictions between settings.
  notes.push(...problemsWith(result));
  return { tables: result, notes };
}

const isEmptyTable = (value: unknown): boolean => isTable(value) && Object.keys(value).length === 0;

/** An address of the converted file that the service would refuse. */
function reachableAddress(converted: Table): string | undefined {
  const { http } = converted;
  if (!isTable(http) || http['auth-enabled'] === true) return undefined;
  const address = http['bind-address'];
  if (typeof address !== 'string') return undefined;
  return isLoopback(parseBind(address, 'http.bind-address').host) ? undefined : address;
}
