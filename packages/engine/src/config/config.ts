// The engine's configuration: its schema for files, environment and flags, and the options of
// `startEngine`.
import { availableParallelism } from 'node:os';
import { configOf, parseAddress, resolveOptions } from '@tidemark/settings';
import type {
  ConfigLayer,
  ConfigOf,
  ConfigProblem,
  ConfigSchema,
  Options,
  SectionSpec,
} from '@tidemark/settings';

import { FIXED_SECTIONS } from './config-sections.ts';
import { OVERRIDABLE_SECTIONS } from './overridable-sections.ts';

/**
 * Everything that a file may set, for `resolveConfig`, `environmentLayer`, `printDefaultConfig` and
 * others.
 */
export const ENGINE_CONFIG_SCHEMA: ConfigSchema = {
  ...FIXED_SECTIONS,
  ...Object.fromEntries(
    OVERRIDABLE_SECTIONS.map((section) => [section.name, configSectionOf(section)]),
  ),
};

/** Everything that the environment may set, including older names of sections. */
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
 * Resolves sources in order (file, environment, flags) over the defaults. Accepts older names of
 * sections.
 */
export function resolveEngineConfig(layers: readonly ConfigLayer[]): {
  readonly config: EngineConfig;
  readonly problems: readonly ConfigProblem[];
} {
  const renamed = layers.map((layer) => ({
    ...layer,
    values: listFunctions(joinLists(renameOldSections(layer.values))),
  }));
  const { sections, problems } = resolveOptions(ENGINE_CONFIG_SCHEMA, renamed);
  const found: ConfigProblem[] = [...problems];
  const overridable = new Map<string, readonly Options[]>();
  for (const section of OVERRIDABLE_SECTIONS) {
    const given = sections.get(section.name) ?? [];
    const elements = given.length > 0 ? given : (section.defaultElements ?? []);
    overridable.set(section.name, elements);
    const problem = checkElements(section, elements);
    if (problem !== undefined) {
      found.push({ source: 'configuration', key: section.name, message: problem });
    }
  }
  const fixed = configOf(FIXED_SECTIONS, sections);
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

/** Returns why the elements of a section cannot be used together. */
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

/** Renames sections that a file names as Kapacitor did. */
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

// Tables of lists, `subscriptions = { telegraf = ["autogen"] }`, are passed as tables of texts.
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

function configSectionOf({ doc, options, elementKey }: SectionSpec): ConfigSchema[string] {
  return { doc, options, isRepeated: elementKey !== undefined };
}
