// Sources of a configuration besides its file: environment variables and flags; and the default
// file itself.
import type { ConfigLayer } from './resolve.ts';
import type { ConfigSchema } from './schema.ts';
import { printConfigValue } from './values.ts';
import type { OptionSpec, OptionType } from '../options.ts';

function environmentName(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .join('_')
    .replaceAll('-', '_')
    .toUpperCase();
}

/**
 * The keys that environment variables set: `<prefix>_<SECTION>_<KEY>`, with `-` written `_`;
 * elements of repeated sections as `<prefix>_<SECTION>_<i>_<KEY>`. Other variables are ignored.
 */
export function environmentLayer(
  schema: ConfigSchema,
  environment: Readonly<Record<string, string | undefined>>,
  prefix: string,
): ConfigLayer {
  const values: Record<string, unknown> = {};
  for (const [name, section] of Object.entries(schema)) {
    const at = section.isRepeated
      ? repeatedIndexes(environment, environmentName([prefix, name]))
      : [''];
    for (const index of at) {
      for (const key of Object.keys(section.options)) {
        const text = environment[environmentName([prefix, name, index, key])];
        if (text !== undefined) setValue(values, { section: name, index, key }, text);
      }
    }
  }
  return { source: 'environment', values, isText: true };
}

// More elements than anybody uses; limits what a stray variable such as X_UDP_99999999_A can
// allocate.
const MAX_REPEATED_SECTIONS = 64;

function repeatedIndexes(
  environment: Readonly<Record<string, string | undefined>>,
  start: string,
): string[] {
  const found = new Set<string>();
  for (const name of Object.keys(environment)) {
    const match = name.startsWith(`${start}_`)
      ? /^(\d{1,2})_/.exec(name.slice(start.length + 1))
      : null;
    if (match?.[1] !== undefined && Number(match[1]) < MAX_REPEATED_SECTIONS) found.add(match[1]);
  }
  return [...found];
}

function setValue(
  values: Record<string, unknown>,
  place: { readonly section: string; readonly index: string; readonly key: string },
  text: string,
): void {
  if (place.section === '') {
    values[place.key] = text;
    return;
  }
  if (place.index === '') {
    const table = (values[place.section] ?? {}) as Record<string, unknown>;
    table[place.key] = text;
    values[place.section] = table;
    return;
  }
  const list = (values[place.section] ?? []) as (Record<string, unknown> | undefined)[];
  const table = list[Number(place.index)] ?? {};
  table[place.key] = text;
  list[Number(place.index)] = table;
  values[place.section] = list;
}

/**
 * A command line flag for a key: `--http-auth-enabled`; keys at top level have no section prefix.
 */
export type ConfigFlag = {
  /** Without dashes: `http-auth-enabled`. */
  readonly name: string;
  readonly section: string;
  readonly key: string;
  readonly type: OptionType;
  readonly doc: string;
};

/** All flags of a schema. Repeated sections and tables of texts have none. */
export function configFlags(schema: ConfigSchema): readonly ConfigFlag[] {
  return Object.entries(schema).flatMap(([section, { options, isRepeated }]) =>
    isRepeated
      ? []
      : Object.entries(options)
          .filter(([, { type }]) => type !== 'string-map' && type !== 'json')
          .map(([name, { type, doc }]) => ({
            name: section === '' ? name : `${section.replaceAll('_', '-')}-${name}`,
            section,
            key: name,
            type,
            doc,
          })),
  );
}

/** The keys set by flags; `given` maps flag names to texts. The caller handles unknown names. */
export function flagLayer(
  schema: ConfigSchema,
  given: Readonly<Record<string, string | undefined>>,
): ConfigLayer {
  const values: Record<string, unknown> = {};
  for (const { name, section, key } of configFlags(schema)) {
    const text = given[name];
    if (text !== undefined) setValue(values, { section, index: '', key }, text);
  }
  return { source: 'flags', values, isText: true };
}

/**
 * The default file: TOML with a comment above every key. `under` puts all sections below one table.
 */
export function printDefaultConfig(schema: ConfigSchema, under = ''): string {
  const path = (name: string): string => [under, name].filter((part) => part !== '').join('.');
  const blocks: string[] = [];
  for (const [name, section] of Object.entries(schema)) {
    const lines = wrapComment(section.doc);
    const heading = path(name);
    if (heading !== '') lines.push(section.isRepeated ? `# [[${heading}]]` : `[${heading}]`);
    for (const [key, spec] of Object.entries(section.options)) {
      lines.push('', ...wrapComment(commentOf(spec)).map((line) => `  ${line}`));
      const isTable = spec.type === 'string-map' || spec.type === 'json';
      const text = `${key} = ${printDefault(spec)}`;
      lines.push(section.isRepeated || isTable ? `  # ${text}` : `  ${text}`);
    }
    blocks.push(lines.join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

function commentOf({ allowed, doc }: OptionSpec): string {
  return allowed === undefined ? doc : `${doc} Allowed: ${allowed.join(', ')}.`;
}

function wrapComment(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + word.length > 95) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function printDefault({ type, default: value }: OptionSpec): string {
  // When read, an empty value means the default.
  if (type === 'string-map' || type === 'json') return '{}';
  return printConfigValue(value ?? []);
}
