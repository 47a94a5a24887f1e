// Builds one checked configuration per service from file, environment and flags. `tidemark tsdb`
// and `tidemark engine` take the sections of their service at top level; `tidemark up` takes those
// of the database under [database], of the engine under [engine], and its own [ui].
import { readFileSync } from 'node:fs';

import { messageOf } from '@tidemark/core';
import type { EngineConfig } from '@tidemark/engine';
import {
  BORDER_OPTIONS,
  configFlags,
  configSection,
  environmentLayer,
  flagLayer,
  printDefaultConfig,
  resolveConfig,
  str,
} from '@tidemark/settings';
import type { ConfigLayer, ConfigOf, ConfigProblem, ConfigSchema } from '@tidemark/settings';
import type { TsdbConfig } from '@tidemark/tsdb';
import { parse as parseToml, TomlError } from 'smol-toml';

import { UsageError } from '../exit.ts';
import { TSDB_PROFILES } from './profiles.ts';
import type { Profile } from './profiles.ts';

export type ServiceCommand = 'up' | 'tsdb' | 'engine';

const UI_CONFIG = {
  ui: configSection('The web application.', {
    'bind-address': str('Address and port of the web application.', '127.0.0.1:8888'),
    ...BORDER_OPTIONS,
  }),
} as const satisfies ConfigSchema;

export type UiConfig = ConfigOf<typeof UI_CONFIG>;

type Resolved = { readonly config: unknown; readonly problems: readonly ConfigProblem[] };

/** A schema, its table in the file, and the function that resolves its configuration. */
type Part = {
  readonly name: keyof LoadedConfig;
  readonly under: '' | 'database' | 'engine';
  readonly schema: ConfigSchema;
  /** The schema for environment variables, if it has more keys. */
  readonly environmentSchema?: ConfigSchema;
  readonly resolve: (layers: readonly ConfigLayer[]) => Resolved;
};

const UI_PART: Part = {
  name: 'ui',
  under: '',
  schema: UI_CONFIG,
  resolve: (layers) => resolveConfig(UI_CONFIG, layers),
};

// Services are loaded on demand: one that does not run must not cost memory or start-up time.
async function tsdbPart(under: Part['under']): Promise<Part> {
  const { TSDB_CONFIG } = await import('@tidemark/tsdb');
  return {
    name: 'tsdb',
    under,
    schema: TSDB_CONFIG,
    resolve: (layers) => resolveConfig(TSDB_CONFIG, layers),
  };
}

async function enginePart(under: Part['under']): Promise<Part> {
  const { ENGINE_CONFIG_SCHEMA, ENGINE_ENVIRONMENT_SCHEMA, resolveEngineConfig } =
    await import('@tidemark/engine');
  return {
    name: 'engine',
    under,
    schema: ENGINE_CONFIG_SCHEMA,
    environmentSchema: ENGINE_ENVIRONMENT_SCHEMA,
    resolve: resolveEngineConfig,
  };
}

async function partsOf(command: ServiceCommand): Promise<readonly Part[]> {
  switch (command) {
    case 'up':
      return [UI_PART, await tsdbPart('database'), await enginePart('engine')];
    case 'tsdb':
      return [await tsdbPart('')];
    case 'engine':
      return [await enginePart('')];
  }
}

export type LoadedConfig = {
  readonly tsdb: TsdbConfig;
  readonly engine: EngineConfig;
  readonly ui: UiConfig;
};

export type ConfigSources = {
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Settings that the file overrides. */
  readonly profile?: Profile | undefined;
  /** Values of generated flags by name without dashes. */
  readonly flags: ReadonlyMap<string, string>;
};

/** Flag names of a command with their documentation. */
export async function commandFlags(
  command: ServiceCommand,
): Promise<readonly { readonly name: string; readonly doc: string }[]> {
  return (await partsOf(command)).flatMap(({ under, schema }) =>
    configFlags(schema).map(({ name, doc }) => ({
      name: under === '' ? name : `${under}-${name}`,
      doc,
    })),
  );
}

/**
 * Reads and checks everything. Any problem is a `UsageError` with source, key and allowed values.
 */
export async function loadConfig(
  command: ServiceCommand,
  sources: ConfigSources,
): Promise<LoadedConfig> {
  const { configs, problems } = await checkConfig(command, sources);
  if (problems.length > 0) throw new UsageError(describeProblems(problems));
  // A command without one of the services never reads that service's configuration.
  return configs as LoadedConfig;
}

/** Like `loadConfig`, but returns all problems instead of throwing. Invalid TOML still throws. */
export async function checkConfig(
  command: ServiceCommand,
  sources: ConfigSources,
): Promise<{
  readonly configs: Partial<LoadedConfig>;
  readonly problems: readonly ConfigProblem[];
}> {
  const tables = sources.file === undefined ? {} : readTomlFile(sources.file);
  const problems: ConfigProblem[] = [];
  const configs: Record<string, unknown> = {};
  const parts = await partsOf(command);
  for (const part of parts) {
    const resolved = part.resolve(layersOf(part, command, tables, sources));
    problems.push(
      ...resolved.problems.map((problem) =>
        part.under === ''
          ? withPlace(problem, parts)
          : { ...problem, key: `${part.under}.${problem.key}` },
      ),
    );
    configs[part.name] = resolved.config;
  }
  return { configs: configs as Partial<LoadedConfig>, problems };
}

/**
 * For an unknown section at top level: where it belongs in a file for both services, or which
 * sections are known.
 */
function withPlace(problem: ConfigProblem, parts: readonly Part[]): ConfigProblem {
  const below = parts.filter(({ under }) => under !== '');
  const isSection = parts.every(({ under, schema }) => under !== '' || !(problem.key in schema));
  if (below.length === 0 || problem.key.includes('.') || !isSection) return problem;
  const places = below
    .filter(({ schema }) => problem.key in schema || problem.key in (schema['']?.options ?? {}))
    .map(({ under }) => `[${under}.${problem.key}]`);
  const known = parts.map(({ under, name }) => (under === '' ? name : under)).join(', ');
  const message =
    places.length === 0
      ? `unknown section; known are ${known}`
      : `belongs to one of the services: write ${places.join(' or ')}`;
  return { ...problem, message };
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
  const { profile } = sources;
  return [
    ...(profile !== undefined && part.name === 'tsdb'
      ? [{ source: `profile ${profile}`, values: TSDB_PROFILES[profile] }]
      : []),
    { source: file, values: fileTables(part, command, tables) },
    environmentLayer(part.environmentSchema ?? part.schema, sources.environment, prefix),
    flagLayer(part.schema, given),
  ];
}

/**
 * The tables of the file for one part. Unknown tables belong to the part at top level, which
 * reports them.
 */
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
    throw new UsageError(`cannot read the configuration ${file}: ${messageOf(error)}`);
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

/** The schema of one service, and its resolver. */
export function servicePart(service: 'tsdb' | 'engine'): Promise<Pick<Part, 'schema' | 'resolve'>> {
  return service === 'tsdb' ? tsdbPart('') : enginePart('');
}

/** The commented default configuration of a command. */
export async function defaultConfigText(command: ServiceCommand): Promise<string> {
  const parts = await partsOf(command);
  return parts.map(({ under, schema }) => printDefaultConfig(schema, under)).join('\n');
}
