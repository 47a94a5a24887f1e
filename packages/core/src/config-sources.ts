// Other ways to say what a configuration file says: environment variables and flags; and the
// default file itself.
import type { ConfigKey, ConfigLayer, ConfigSchema, ConfigType } from './config-schema.ts';
import { printConfigDuration } from './config-values.ts';

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
      for (const key of Object.keys(section.keys)) {
        const text = environment[environmentName([prefix, name, index, key])];
        if (text !== undefined) setValue(values, { section: name, index, key }, text);
      }
    }
  }
  return { source: 'environment', values, isText: true };
}

// More elements than anybody has; bounds what a stray variable such as X_UDP_99999999_A can
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

/** A command line flag for a key: `--http-auth-enabled`; the top level has no section in front. */
export type ConfigFlag = {
  /** Without dashes: `http-auth-enabled`. */
  readonly name: string;
  readonly section: string;
  readonly key: string;
  readonly type: ConfigType;
  readonly doc: string;
};

/** All flags of a schema. Repeated sections and tables of texts have none. */
export function configFlags(schema: ConfigSchema): readonly ConfigFlag[] {
  return Object.entries(schema).flatMap(([section, { keys, isRepeated }]) =>
    isRepeated
      ? []
      : Object.entries(keys)
          .filter(([, key]) => key.type !== 'text-map')
          .map(([name, key]) => ({
            name: section === '' ? name : `${section.replaceAll('_', '-')}-${name}`,
            section,
            key: name,
            type: key.type,
            doc: key.doc,
          })),
  );
}

/**
 * The keys that flags set; `given` maps flag names to texts. Unknown names are left to the caller.
 */
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
    for (const [keyName, key] of Object.entries(section.keys)) {
      lines.push('', ...wrapComment(keyComment(key)).map((line) => `  ${line}`));
      const text = `${keyName} = ${printValue(key)}`;
      lines.push(section.isRepeated || key.type === 'text-map' ? `  # ${text}` : `  ${text}`);
    }
    blocks.push(lines.join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

function keyComment(key: ConfigKey): string {
  return key.allowed === undefined ? key.doc : `${key.doc} Allowed: ${key.allowed.join(', ')}.`;
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

function printValue(key: ConfigKey): string {
  switch (key.type) {
    case 'duration':
      return `"${printConfigDuration(Number(key.fallback))}"`;
    case 'text-list':
      return '[]';
    case 'text-map':
      return '{}';
    default:
      return JSON.stringify(key.fallback);
  }
}
