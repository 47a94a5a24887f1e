// The engine's configuration: its schema for files, environment and flags, and what `startEngine`
// takes.
import { availableParallelism } from 'node:os';
import { resolveConfig } from '@tidemark/core';
import type {
  ConfigKey,
  ConfigLayer,
  ConfigOf,
  ConfigProblem,
  ConfigSchema,
  ConfigType,
} from '@tidemark/core';
import { optionsOf, parseAddress } from '@tidemark/settings';
import type { OptionSpec, OptionValue, Options, SectionSpec, OptionType } from '@tidemark/settings';
import { FIXED_SECTIONS } from './config-sections.ts';
import { OVERRIDABLE_SECTIONS } from './overridable-sections.ts';

const CONFIG_TYPES: Readonly<Record<OptionType, ConfigType>> = {
  string: 'text',
  boolean: 'boolean',
  integer: 'integer',
  float: 'number',
  duration: 'duration',
  strings: 'text-list',
  'string-map': 'text-map',
  json: 'text-map',
};

/**
 * Everything that a file may say, for `resolveConfig`, `environmentLayer`, `printDefaultConfig` and
 * the rest.
 */
export const ENGINE_CONFIG_SCHEMA: ConfigSchema = {
  ...FIXED_SECTIONS,
  ...Object.fromEntries(
    OVERRIDABLE_SECTIONS.map((section) => [section.name, configSectionOf(section)]),
  ),
};

/** What the environment may say: older names of sections, too. */
export const ENGINE_ENVIRONMENT_SCHEMA: ConfigSchema = {
  ...ENGINE_CONFIG_SCHEMA,
  ...Object.fromEntries(
    OVERRIDABLE_SECTIONS.flatMap((section) =>
      (section.aliases ?? []).map((alias) => [alias, configSectionOf(section)]),
    ),
  ),
};

/**
 * A resolved configuration. `['']` is the top level; durations end in `Ms`, sizes in `Bytes`.
 * Overridable sections are lists of elements (one element for a section that is no list).
 */
export type EngineConfig = ConfigOf<typeof FIXED_SECTIONS> & {
  readonly overridable: ReadonlyMap<string, readonly Options[]>;
};

/**
 * Resolves sources in order (file, environment, flags) over the defaults. Older names of sections
 * are understood.
 */
export function resolveEngineConfig(layers: readonly ConfigLayer[]): {
  readonly config: EngineConfig;
  readonly problems: readonly ConfigProblem[];
} {
  const renamed = layers.map((layer) => ({
    ...layer,
    values: listFunctions(joinLists(renameOldSections(layer.values))),
  }));
  const { config, problems } = resolveConfig(ENGINE_CONFIG_SCHEMA, renamed);
  const values: Readonly<Record<string, unknown>> = config;
  const found: ConfigProblem[] = [...problems];
  const overridable = new Map<string, readonly Options[]>();
  for (const section of OVERRIDABLE_SECTIONS) {
    const elements = elementsOf(section, values[camelCase(section.name)]);
    overridable.set(section.name, elements);
    const problem = checkElements(section, elements);
    if (problem !== undefined) {
      found.push({ source: 'configuration', key: section.name, message: problem });
    }
  }
  const fixed = Object.fromEntries(
    Object.keys(FIXED_SECTIONS).map((name) => [camelCase(name), values[camelCase(name)]]),
  ) as ConfigOf<typeof FIXED_SECTIONS>;
  if (parseAddress(fixed.http.bindAddress) === undefined) {
    const message = `${JSON.stringify(fixed.http.bindAddress)} is not allowed; expected host:port`;
    found.push({ source: 'configuration', key: 'http.bind-address', message });
  }
  if (!/^(?:auto|\d{1,3})$/.test(fixed.task.hosts)) {
    const message = `${JSON.stringify(fixed.task.hosts)} is not allowed; expected auto or a number`;
    found.push({ source: 'configuration', key: 'task.hosts', message });
  }
  return { config: { ...fixed, overridable }, problems: found };
}

/** Number of threads that run tasks; 0 runs them in the thread of the API. */
export function hostCountOf(config: EngineConfig): number {
  const { hosts } = config.task;
  return hosts === 'auto' ? Math.max(1, availableParallelism() - 1) : Number(hosts);
}

/** Why the elements of a section can not be used together. */
export function checkElements(
  section: SectionSpec,
  elements: readonly Options[],
): string | undefined {
  for (const options of elements) {
    const problem = section.validate?.(options);
    if (problem !== undefined) return problem;
  }
  const key = section.elementKey;
  if (key !== undefined) {
    const names = elements.map((options) => options[key]);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) {
      return `section ${JSON.stringify(section.name)} has duplicate elements: ${JSON.stringify(twice)}`;
    }
  }
  return section.validateAll?.(elements);
}

/** Moves sections that a file names as the older system did to their present names. */
function renameOldSections(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const renamed: Record<string, unknown> = { ...values };
  for (const section of OVERRIDABLE_SECTIONS) {
    for (const alias of section.aliases ?? []) {
      if (renamed[alias] === undefined || renamed[section.name] !== undefined) continue;
      renamed[section.name] = renamed[alias];
      delete renamed[alias];
    }
  }
  return renamed;
}

// Tables of lists, `subscriptions = { telegraf = ["autogen"] }`, travel as tables of texts.
function joinLists(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const joined: Record<string, unknown> = { ...values };
  for (const section of OVERRIDABLE_SECTIONS) {
    const names = Object.entries(section.options)
      .filter(([, { type }]) => type === 'json')
      .map(([name]) => name);
    const value = joined[section.name];
    if (names.length === 0 || !Array.isArray(value)) continue;
    joined[section.name] = value.map((table: unknown) =>
      table !== null && typeof table === 'object' ? joinTableLists(table, names) : table,
    );
  }
  return joined;
}

/** `[udf.functions.name]` of a file as elements of `[[udf-functions]]`. */
function listFunctions(
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { udf, ...others } = values;
  if (udf === null || typeof udf !== 'object') return values;
  if (Object.keys(udf).length === 0) return others;
  if (!('functions' in udf)) return values;
  const { functions } = udf;
  if (functions === null || typeof functions !== 'object') return values;
  const listed = Object.entries(functions).map(([name, table]) => ({ ...(table as object), name }));
  return { ...others, 'udf-functions': listed };
}

function joinTableLists(table: object, names: readonly string[]): Record<string, unknown> {
  const joined: Record<string, unknown> = { ...table };
  for (const name of names) {
    const value = joined[name];
    if (value === null || typeof value !== 'object' || Array.isArray(value)) continue;
    const entries = Object.entries(value).map(([key, items]) => [
      key,
      Array.isArray(items) ? items.join(',') : items,
    ]);
    joined[name] = Object.fromEntries(entries);
  }
  return joined;
}

function elementsOf(section: SectionSpec, value: unknown): readonly Options[] {
  const given = Array.isArray(value) ? value : [value];
  const tables = given.filter(
    (table): table is Readonly<Record<string, unknown>> =>
      table !== null && typeof table === 'object',
  );
  if (tables.length === 0 && section.elementKey !== undefined) return section.defaultElements ?? [];
  return tables.map((table) =>
    optionsOf(section.options, (spec, name) => optionFromConfig(name, spec, table)),
  );
}

function optionFromConfig(
  name: string,
  spec: OptionSpec,
  table: Readonly<Record<string, unknown>>,
): OptionValue {
  const suffix = spec.type === 'duration' ? 'Ms' : '';
  const value = table[camelCase(name) + suffix];
  if (value === undefined) return spec.default;
  if (spec.type === 'duration') return BigInt(Math.round(Number(value) * 1e6));
  const isEmpty = value !== null && typeof value === 'object' && Object.keys(value).length === 0;
  return isEmpty ? spec.default : (value as OptionValue);
}

function configSectionOf(section: SectionSpec): ConfigSchema[string] {
  return {
    doc: section.doc,
    isRepeated: section.elementKey !== undefined,
    keys: Object.fromEntries(
      Object.entries(section.options).map(([name, spec]) => [name, configKeyOf(spec)]),
    ),
  };
}

function configKeyOf(spec: OptionSpec): ConfigKey {
  return {
    type: CONFIG_TYPES[spec.type],
    fallback: fallbackOf(spec),
    doc: spec.doc,
    isSecret: spec.isSecret,
  };
}

function fallbackOf(spec: OptionSpec): unknown {
  if (typeof spec.default === 'bigint') return Number(spec.default) / 1e6;
  if (spec.default !== null) return spec.default;
  return spec.type === 'strings' ? [] : {};
}

function camelCase(name: string): string {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
