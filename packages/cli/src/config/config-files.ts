// From file, environment and flags to one checked configuration per service.
//
// `tidemark tsdb` and `tidemark engine` take the sections of their service at top level; `tidemark up` takes those of
// the database under [database], of the engine under [engine], and its own [ui].
import { readFileSync } from 'node:fs';

import {
  configFlags,
  configKey,
  configSection,
  environmentLayer,
  flagLayer,
  printDefaultConfig,
  resolveConfig,
} from '@tidemark/core';
import type { ConfigLayer, ConfigOf, ConfigProblem, ConfigSchema } from '@tidemark/core';
import { ENGINE_CONFIG_SCHEMA } from '@tidemark/engine';
import type { EngineConfig } from '@tidemark/engine';
import { TSDB_CONFIG_SCHEMA } from '@tidemark/tsdb';
import type { TsdbConfig } from '@tidemark/tsdb';
import { parse as parseToml, TomlError } from 'smol-toml';

import { UsageError } from '../exit.ts';

export type ServiceCommand = 'up' | 'tsdb' | 'engine';

const UI_CONFIG = {
  ui: configSection('The web application.', {
    'bind-address': configKey.text('127.0.0.1:8888', 'Address and port of the web application.'),
  }),
} as const satisfies ConfigSchema;

export type UiConfig = ConfigOf<typeof UI_CONFIG>;

/** One schema and the table it is found under. */
type Part = { readonly under: '' | 'database' | 'engine'; readonly schema: ConfigSchema };

const PARTS: Readonly<Record<ServiceCommand, readonly Part[]>> = {
  up: [
    { under: '', schema: UI_CONFIG },
    { under: 'database', schema: TSDB_CONFIG_SCHEMA },
    { under: 'engine', schema: ENGINE_CONFIG_SCHEMA },
  ],
  tsdb: [{ under: '', schema: TSDB_CONFIG_SCHEMA }],
  engine: [{ under: '', schema: ENGINE_CONFIG_SCHEMA }],
};

export type LoadedConfig = {
  readonly tsdb: TsdbConfig;
  readonly engine: EngineConfig;
  readonly ui: UiConfig;
};

export type ConfigSources = {
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Values of generated flags by name without dashes. */
  readonly flags: ReadonlyMap<string, string>;
};

/** Flag names of a command with their documentation. */
export function commandFlags(
  command: ServiceCommand,
): readonly { readonly name: string; readonly doc: string }[] {
  return PARTS[command].flatMap(({ under, schema }) =>
    configFlags(schema).map(({ name, doc }) => ({
      name: under === '' ? name : `${under}-${name}`,
      doc,
    })),
  );
}

/** Reads and checks everything; any problem is a `UsageError` that names source, key and what is allowed. */
export function loadConfig(command: ServiceCommand, sources: ConfigSources): LoadedConfig {
  const { configs, problems } = checkConfig(command, sources);
  if (problems.length > 0) throw new UsageError(describeProblems(problems));
  // A command without one of the services never looks at that service's configuration.
  return configs as LoadedConfig;
}

/** Like `loadConfig`, but gives all problems instead of throwing them. A file that is not TOML still throws. */
export function checkConfig(
  command: ServiceCommand,
  sources: ConfigSources,
): { readonly configs: Partial<LoadedConfig>; readonly problems: readonly ConfigProblem[] } {
  const tables = sources.file === undefined ? {} : readTomlFile(sources.file);
  const problems: ConfigProblem[] = [];
  const configs: { -readonly [K in keyof LoadedConfig]?: LoadedConfig[K] } = {};
  for (const part of PARTS[command]) {
    const resolved = resolveConfig(part.schema, layersOf(part, command, tables, sources));
    problems.push(
      ...resolved.problems.map((problem) =>
        part.under === '' ? problem : { ...problem, key: `${part.under}.${problem.key}` },
      ),
    );
    if (part.schema === TSDB_CONFIG_SCHEMA) configs.tsdb = resolved.config as unknown as TsdbConfig;
    else if (part.schema === ENGINE_CONFIG_SCHEMA)
      configs.engine = resolved.config as unknown as EngineConfig;
    else configs.ui = resolved.config as unknown as UiConfig;
  }
  return { configs, problems };
}

function layersOf(
  part: Part,
  command: ServiceCommand,
  tables: Readonly<Record<string, unknown>>,
  sources: ConfigSources,
): readonly ConfigLayer[] {
  const file = sources.file ?? '';
  const prefix = part.under === '' ? 'TIDEMARK' : `TIDEMARK_${part.under.toUpperCase()}`;
  const flagPrefix = part.under === '' ? '' : `${part.under}-`;
  const given: Record<string, string> = {};
  for (const [name, value] of sources.flags) {
    if (name.startsWith(flagPrefix)) given[name.slice(flagPrefix.length)] = value;
  }
  return [
    { source: file, values: fileTables(part, command, tables) },
    environmentLayer(part.schema, sources.environment, prefix),
    flagLayer(part.schema, given),
  ];
}

/** The tables of the file that belong to a part. Unknown tables stay with the part at top level, which reports them. */
function fileTables(
  part: Part,
  command: ServiceCommand,
  tables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (part.under !== '') {
    const own = tables[part.under];
    if (own === undefined) return {};
    if (typeof own === 'object' && own !== null && !Array.isArray(own)) return { ...own };
    throw new UsageError(`\`${part.under}\` must be a table, written as [${part.under}]`);
  }
  if (command !== 'up') return tables;
  return Object.fromEntries(
    Object.entries(tables).filter(([name]) => name !== 'database' && name !== 'engine'),
  );
}

/** Parses a TOML file; a `UsageError` names file, line and column. */
export function readTomlFile(file: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `cannot read the configuration ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  try {
    return parseToml(text, { integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (error instanceof TomlError) {
      throw new UsageError(
        `${file} is not valid TOML at line ${error.line}, column ${error.column}:\n${error.codeblock}`,
      );
    }
    throw error;
  }
}

/** One line per problem: `tidemark.toml: http.max-body-size: "x" is not allowed; expected …`. */
export function describeProblems(problems: readonly ConfigProblem[]): string {
  return problems.map(({ source, key, message }) => `${source}: ${key}: ${message}`).join('\n');
}

/** The schema of one service. */
export function serviceSchema(service: 'tsdb' | 'engine'): ConfigSchema {
  return service === 'tsdb' ? TSDB_CONFIG_SCHEMA : ENGINE_CONFIG_SCHEMA;
}

/** The commented default configuration of a command. */
export function defaultConfigText(command: ServiceCommand): string {
  return PARTS[command].map(({ under, schema }) => printDefaultConfig(schema, under)).join('\n');
}
