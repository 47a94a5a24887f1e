// The problem with one key of a configuration.
import { configOf } from './schema.ts';
import type { ConfigOf, ConfigSchema, ConfigSection } from './schema.ts';
import { readValue } from './values.ts';
import { defaultOptions, expectation, holdsSecret } from '../options.ts';
import type { Options, OptionValue } from '../options.ts';

/** What is wrong with one key of a configuration. */
export type ConfigProblem = {
  /** File name, `environment` or `flags`. */
  readonly source: string;
  /** For example `http.max-body-size`. */
  readonly key: string;
  readonly message: string;
};

/**
 * Values of one source. `isText` says that all values are texts (environment, flags), to be parsed
 * by the type of their option.
 */
export type ConfigLayer = {
  readonly source: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly isText?: boolean | undefined;
};

/** Elements of sections, by section name; a section that is not repeated has one element. */
export type SectionOptions = ReadonlyMap<string, readonly Options[]>;

type Element = Record<string, OptionValue>;
type Elements = Map<string, Element[]>;

/**
 * Lays later sources over earlier ones and over the defaults. With problems, the configuration must
 * not be used.
 */
export function resolveConfig<S extends ConfigSchema>(
  schema: S,
  layers: readonly ConfigLayer[],
): { readonly config: ConfigOf<S>; readonly problems: readonly ConfigProblem[] } {
  const { sections, problems } = resolveOptions(schema, layers);
  return { config: configOf(schema, sections), problems };
}

/** The same, as options by their own names. */
export function resolveOptions(
  schema: ConfigSchema,
  layers: readonly ConfigLayer[],
): { readonly sections: SectionOptions; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const sections: Elements = new Map();
  for (const [name, { options, isRepeated }] of Object.entries(schema)) {
    sections.set(name, isRepeated ? [] : [{ ...defaultOptions(options) }]);
  }
  for (const layer of layers) applyLayer(schema, layer, sections, problems);
  // The environment may number elements with gaps.
  for (const [name, elements] of sections) sections.set(name, Object.values(elements));
  return { sections, problems };
}

function applyLayer(
  schema: ConfigSchema,
  layer: ConfigLayer,
  sections: Elements,
  problems: ConfigProblem[],
): void {
  const top = schema[''];
  for (const [name, value] of Object.entries(layer.values)) {
    const section = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (name !== '' && section !== undefined) {
      applySection({ name, section, layer }, value, { sections, problems });
    } else if (top !== undefined && Object.hasOwn(top.options, name)) {
      const target = sections.get('')?.[0] ?? {};
      applyOptions({ name: '', section: top, layer }, { [name]: value }, { target, problems });
    } else {
      const known = [
        ...Object.keys(schema).filter((key) => key !== ''),
        ...Object.keys(top?.options ?? {}),
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
  input: SectionInput,
  value: unknown,
  into: { readonly sections: Elements; readonly problems: ConfigProblem[] },
): void {
  const { name, section, layer } = input;
  const { problems } = into;
  const wrong = (message: string): void => {
    problems.push({ source: layer.source, key: name, message });
  };
  const elements = into.sections.get(name) ?? [];
  if (!section.isRepeated) {
    if (!isTable(value)) return wrong(`expected a table, written as [${name}]`);
    applyOptions(input, value, { target: elements[0] ?? {}, problems });
    return;
  }
  const tables = Array.isArray(value) ? value : [value];
  for (const [i, table] of tables.entries()) {
    if (table === undefined) continue;
    if (!isTable(table)) return wrong(`expected tables, written as [[${name}]]`);
    // Nothing is replaced: element i of a later source changes element i of an earlier one.
    const target = elements[i] ?? { ...defaultOptions(section.options) };
    elements[i] = target;
    applyOptions({ ...input, name: tables.length > 1 ? `${name}.${i}` : name }, table, {
      target,
      problems,
    });
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function applyOptions(
  input: SectionInput,
  values: Readonly<Record<string, unknown>>,
  into: { readonly target: Element; readonly problems: ConfigProblem[] },
): void {
  const { name: sectionName, section, layer } = input;
  for (const [name, raw] of Object.entries(values)) {
    const path = sectionName === '' ? name : `${sectionName}.${name}`;
    const spec = Object.hasOwn(section.options, name) ? section.options[name] : undefined;
    if (spec === undefined) {
      const known = Object.keys(section.options).join(', ');
      into.problems.push({
        source: layer.source,
        key: path,
        message: `unknown key; known are ${known}`,
      });
      continue;
    }
    const value = readValue(spec, raw, layer.isText === true);
    if (value === undefined) {
      const shown = holdsSecret(spec) ? 'that' : JSON.stringify(raw, printBigint);
      into.problems.push({
        source: layer.source,
        key: path,
        message: `${shown} is not allowed; expected ${expectation(spec)}`,
      });
    } else into.target[name] = value;
  }
}

function printBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
