// Configuration as data: one table of sections and keys from which defaults, the commented default
// file, validation, environment variables, flags and the type of the configuration follow. Reads no
// file and no environment itself.

import { expectation, parseConfigDuration, readValue } from './config-values.ts';

/** How a value is written, and what it becomes. */
export type ConfigType =
  /** Text, optionally one of `allowed`. */
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  /** Go style (`1h30m`, `10s`, `0s`); becomes milliseconds. */
  | 'duration'
  /** Bytes: an integer, or text with `k`, `m` or `g` (powers of 1024). */
  | 'size'
  | 'text-list'
  /** A table of texts. */
  | 'text-map';

/** One key. `fallback` is what the key means when it is not set, in its final form. */
export type ConfigKey<V = unknown, T extends ConfigType = ConfigType> = {
  readonly type: T;
  readonly fallback: V;
  /** One sentence for the commented default file. */
  readonly doc: string;
  readonly allowed?: readonly string[] | undefined;
  /** Never printed. */
  readonly isSecret?: boolean | undefined;
};

export type ConfigKeys = Readonly<Record<string, ConfigKey>>;

/**
 * A table of the file (`[http]`), or with `isRepeated` an array of tables (`[[udp]]`). `''` names
 * the top level.
 */
export type ConfigSection<K extends ConfigKeys = ConfigKeys, R extends boolean = boolean> = {
  readonly doc: string;
  readonly keys: K;
  readonly isRepeated: R;
};

export type ConfigSchema = Readonly<Record<string, ConfigSection>>;

type Camel<S extends string> = S extends `${infer A}-${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S extends `${infer A}_${infer B}`
    ? `${A}${Capitalize<Camel<B>>}`
    : S;
type Unit<T extends ConfigType> = T extends 'duration' ? 'Ms' : T extends 'size' ? 'Bytes' : '';
type SectionValues<K extends ConfigKeys> = {
  readonly [N in keyof K & string as `${Camel<N>}${Unit<K[N]['type']>}`]: K[N]['fallback'];
};

/**
 * The configuration that a schema describes: camelCase names, durations end in `Ms`, sizes in
 * `Bytes`.
 */
export type ConfigOf<S extends ConfigSchema> = {
  readonly [N in keyof S & string as Camel<N>]: S[N]['isRepeated'] extends true
    ? readonly SectionValues<S[N]['keys']>[]
    : SectionValues<S[N]['keys']>;
};

/** What is wrong with one key of a configuration. */
export type ConfigProblem = {
  /** File name, `environment` or `flags`. */
  readonly source: string;
  /** For example `http.max-body-size`. */
  readonly key: string;
  readonly message: string;
};

/**
 * Values of one source. `isText` says that every value is text (environment, flags), to be read by
 * the key's type.
 */
export type ConfigLayer = {
  readonly source: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly isText?: boolean | undefined;
};

export const configKey = {
  text: (
    fallback: string,
    doc: string,
    options: {
      readonly allowed?: readonly string[] | undefined;
      readonly isSecret?: boolean | undefined;
    } = {},
  ): ConfigKey<string, 'text'> => ({ type: 'text', fallback, doc, ...options }),
  integer: (fallback: number, doc: string): ConfigKey<number, 'integer'> => ({
    type: 'integer',
    fallback,
    doc,
  }),
  number: (fallback: number, doc: string): ConfigKey<number, 'number'> => ({
    type: 'number',
    fallback,
    doc,
  }),
  boolean: (fallback: boolean, doc: string): ConfigKey<boolean, 'boolean'> => ({
    type: 'boolean',
    fallback,
    doc,
  }),
  /** `fallback` is written as in the file: `'10s'`. */
  duration: (fallback: string, doc: string): ConfigKey<number, 'duration'> => ({
    type: 'duration',
    fallback: parseConfigDuration(fallback) ?? 0,
    doc,
  }),
  size: (fallbackBytes: number, doc: string): ConfigKey<number, 'size'> => ({
    type: 'size',
    fallback: fallbackBytes,
    doc,
  }),
  textList: (doc: string): ConfigKey<readonly string[], 'text-list'> => ({
    type: 'text-list',
    fallback: [],
    doc,
  }),
  textMap: (doc: string): ConfigKey<Readonly<Record<string, string>>, 'text-map'> => ({
    type: 'text-map',
    fallback: {},
    doc,
  }),
};

/** A `[section]`. */
export function configSection<const K extends ConfigKeys>(
  doc: string,
  keys: K,
): ConfigSection<K, false> {
  return { doc, keys, isRepeated: false };
}

/** A `[[section]]`, of which there may be none. */
export function configSections<const K extends ConfigKeys>(
  doc: string,
  keys: K,
): ConfigSection<K, true> {
  return { doc, keys, isRepeated: true };
}

/**
 * Lays later sources over earlier ones and over the defaults. With problems, the configuration must
 * not be used.
 */
export function resolveConfig<S extends ConfigSchema>(
  schema: S,
  layers: readonly ConfigLayer[],
): { readonly config: ConfigOf<S>; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, section] of Object.entries(schema)) {
    if (!section.isRepeated) config[camelCase(name)] = defaultsOf(section);
    else config[camelCase(name)] = [];
  }
  for (const layer of layers) applyLayer(schema, layer, config, problems);
  return { config: config as ConfigOf<S>, problems };
}

function defaultsOf(section: ConfigSection): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(section.keys).map(([name, key]) => [propertyName(name, key), key.fallback]),
  );
}

function applyLayer(
  schema: ConfigSchema,
  layer: ConfigLayer,
  config: Record<string, unknown>,
  problems: ConfigProblem[],
): void {
  const top = schema[''];
  for (const [name, value] of Object.entries(layer.values)) {
    const section = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (name !== '' && section !== undefined) {
      applySection({ name, section, value, layer }, config, problems);
    } else if (top !== undefined && Object.hasOwn(top.keys, name)) {
      applyKeys(
        { name: '', section: top, layer },
        { [name]: value },
        {
          target: config[''] as Record<string, unknown>,
          problems,
        },
      );
    } else {
      const known = [
        ...Object.keys(schema).filter((key) => key !== ''),
        ...Object.keys(top?.keys ?? {}),
      ];
      problems.push({
        source: layer.source,
        key: name,
        message: `unknown section or key; known are ${known.join(', ')}`,
      });
    }
  }
}

type SectionInput = {
  readonly name: string;
  readonly section: ConfigSection;
  readonly layer: ConfigLayer;
};

function applySection(
  input: SectionInput & { readonly value: unknown },
  config: Record<string, unknown>,
  problems: ConfigProblem[],
): void {
  const { name, section, value, layer } = input;
  const wrong = (message: string): void => {
    problems.push({ source: layer.source, key: name, message });
  };
  if (!section.isRepeated) {
    if (!isTable(value)) return wrong(`expected a table, written as [${name}]`);
    const target = config[camelCase(name)] as Record<string, unknown>;
    applyKeys(input, value, { target, problems });
    return;
  }
  const tables = Array.isArray(value) ? value : [value];
  const list = config[camelCase(name)] as Record<string, unknown>[];
  for (const [i, table] of tables.entries()) {
    if (table === undefined) continue;
    if (!isTable(table)) return wrong(`expected tables, written as [[${name}]]`);
    // A file replaces nothing here: element i of a later source changes element i of an earlier
    // one.
    const target = list[i] ?? defaultsOf(section);
    list[i] = target;
    applyKeys({ ...input, name: tables.length > 1 ? `${name}.${i}` : name }, table, {
      target,
      problems,
    });
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function applyKeys(
  input: SectionInput,
  values: Readonly<Record<string, unknown>>,
  into: { readonly target: Record<string, unknown>; readonly problems: ConfigProblem[] },
): void {
  const { name: sectionName, section, layer } = input;
  for (const [name, raw] of Object.entries(values)) {
    const path = sectionName === '' ? name : `${sectionName}.${name}`;
    const key = Object.hasOwn(section.keys, name) ? section.keys[name] : undefined;
    if (key === undefined) {
      const known = Object.keys(section.keys).join(', ');
      into.problems.push({
        source: layer.source,
        key: path,
        message: `unknown key; known are ${known}`,
      });
      continue;
    }
    const value = readValue(key, raw, layer.isText === true);
    if (value === undefined) {
      const shown = key.isSecret === true ? 'that' : JSON.stringify(raw, printBigint);
      into.problems.push({
        source: layer.source,
        key: path,
        message: `${shown} is not allowed; expected ${expectation(key)}`,
      });
    } else into.target[propertyName(name, key)] = value;
  }
}

function printBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function camelCase(name: string): string {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function propertyName(name: string, key: ConfigKey): string {
  const unit = key.type === 'duration' ? 'Ms' : key.type === 'size' ? 'Bytes' : '';
  return camelCase(name) + unit;
}
