// Converts the configuration files of InfluxDB and Kapacitor to one file for a Tidemark command.
import { basename } from 'node:path';

import { stringify } from 'smol-toml';

import { UsageError } from '../exit.ts';
import { findLists, listLines, withLines } from './allowed-lists.ts';
import type { Decide } from './allowed-lists.ts';
import { readTomlFile, servicePart } from './config-files.ts';
import type { ServiceCommand } from './config-files.ts';
import { convertConfig } from './convert.ts';
import type { ConversionNote } from './convert.ts';

export const PRODUCTS = ['influxdb', 'kapacitor'] as const;
export type Product = (typeof PRODUCTS)[number];

const SERVICES = { influxdb: 'tsdb', kapacitor: 'engine' } as const;
/** Tables of the services in a file for `tidemark up`. */
const TABLES = { influxdb: 'database', kapacitor: 'engine' } as const;

type Tables = Readonly<Record<string, unknown>>;

/**
 * Converts one file, or one of each product. Throws `UsageError` for files that do not fit the
 * command.
 */
export async function convertFiles(
  files: readonly string[],
  options: {
    readonly for: ServiceCommand;
    readonly from?: Product | undefined;
    /** Folders with scripts, besides the load directory. */
    readonly scripts?: readonly string[] | undefined;
    readonly decide: Decide;
  },
): Promise<{ readonly toml: string; readonly notes: readonly ConversionNote[] }> {
  const result: Record<string, unknown> = {};
  const notes: ConversionNote[] = [];
  for (const file of files) {
    const old = readTomlFile(file);
    const product = options.from ?? productOf(old);
    const name = TABLES[product];
    if (result[name] !== undefined)
      throw new UsageError(`${file} is a second configuration of ${product}; give one of each`);
    if (options.for !== 'up' && SERVICES[product] !== options.for)
      throw new UsageError(
        `${file} is a configuration of ${product}, which \`tidemark ${SERVICES[product]}\` or \`tidemark up\` replaces: --for ${SERVICES[product]}, or --for up`,
      );
    const converted = convertConfig(old, await servicePart(SERVICES[product]));
    result[name] = converted.tables;
    notes.push(...converted.notes);
    if (options.for === 'up' && product === 'kapacitor')
      notes.push(...clusterNotes(converted.tables));
  }
  const from = files.map((file) => basename(file)).join(' and ');
  const tables = options.for === 'up' ? result : Object.assign({}, ...Object.values(result));
  const head = `# From ${from}, for \`tidemark ${options.for} --config FILE\`.\n\n`;
  const toml = `${head}${stringify(tables)}\n`;
  const engine = result[TABLES.kapacitor] as Tables | undefined;
  if (engine === undefined) {
    if (options.scripts !== undefined)
      throw new UsageError('--scripts needs a configuration of kapacitor to put its lists into');
    return { toml, notes };
  }
  const { lists, notes: unclear } = await findLists([
    ...loadFolder(engine),
    ...(options.scripts ?? []),
  ]);
  const lines: string[] = [];
  for (const list of lists) lines.push(...listLines(list, await options.decide(list)));
  const section = options.for === 'up' ? `${TABLES.kapacitor}.alert` : 'alert';
  return { toml: withLines(toml, section, lines), notes: [...notes, ...unclear] };
}

/** The load directory that a converted file uses. */
function loadFolder({ load }: Tables): readonly string[] {
  const { enabled, dir } = (load ?? {}) as Tables;
  return enabled === true && typeof dir === 'string' ? [dir] : [];
}

function productOf(tables: Tables): Product {
  return ['influxdb', 'udf', 'deadman', 'task', 'replay'].some((section) => section in tables)
    ? 'kapacitor'
    : 'influxdb';
}

/** Services in one process need no addresses of each other; written ones are used. */
function clusterNotes(tables: Tables): readonly ConversionNote[] {
  if (tables['tsdb'] === undefined) return [];
  const message =
    'tasks use the servers named there; without [[engine.tsdb]] they use the database of the same process';
  return [{ key: 'influxdb', message }];
}
