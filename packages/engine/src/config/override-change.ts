// Applies one request to the overrides of a section. Nothing takes effect here: if it throws,
// everything is as before.
import { InvalidRequest, NotFound, own } from '@tidemark/core';
import {
  convertOption,
  defaultOptions,
  HIDDEN,
  isReference,
  printOption,
  typeName,
} from '@tidemark/settings';
import type { JsonValue, Options, OptionSpec, OptionValue, SectionSpec } from '@tidemark/settings';

/** One element's stored override. Values are JSON, converted again on every use. */
export type OverrideRecord = {
  readonly section: string;
  readonly element: string;
  /** The element exists only through this override. */
  readonly isAdded: boolean;
  readonly options: { readonly [name: string]: JsonValue };
};

/** A section, or one of its elements. */
export type ConfigTarget = { readonly section: string; readonly element?: string | undefined };

/** The changes of one request. */
export type ConfigUpdate = {
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  readonly delete?: readonly string[] | undefined;
  readonly add?: Readonly<Record<string, unknown>> | undefined;
  readonly remove?: readonly string[] | undefined;
};

/** Stored overrides by `keyOf`. */
export type Overrides = ReadonlyMap<string, OverrideRecord>;

/** The elements of a section in the file; `undefined` when the file does not have it. */
export type FileElements = readonly Options[] | undefined;

export type OverrideChangeOptions = {
  readonly section: SectionSpec;
  readonly file: FileElements;
  readonly before: Overrides;
  /** Why clients may not use a reference to a secret. */
  readonly refuseSecret: (reference: string) => string | undefined;
  /** Why clients may not have the content of a file sent. */
  readonly refuseFile: (path: string) => string | undefined;
};

export class OverrideChange {
  readonly #options: OverrideChangeOptions;
  /** The overrides after the change. */
  readonly overrides: Map<string, OverrideRecord>;

  constructor(options: OverrideChangeOptions) {
    this.#options = options;
    this.overrides = new Map(options.before);
  }

  /** Throws `InvalidRequest` or `NotFound`. `element` is that of the request's path. */
  make(element: string | undefined, update: ConfigUpdate): void {
    checkShape(this.#options.section, element, update);
    for (const name of update.remove ?? []) this.#remove(name);
    if (update.add !== undefined) this.#add(update.add);
    if (update.set !== undefined || update.delete !== undefined) this.#set(element ?? '', update);
  }

  /** The elements of the section with these overrides. */
  elements(): readonly Options[] {
    const { section, file } = this.#options;
    return mergedElements(section, file, this.overrides);
  }

  #remove(name: string): void {
    const { section, file = [], before } = this.#options;
    const id = keyOf(section.name, name);
    if (before.get(id)?.isAdded === true) {
      this.overrides.delete(id);
      return;
    }
    const target = `${section.name}/${name}`;
    const key = section.elementKey ?? '';
    if (!file.some((options) => options[key] === name)) {
      throw new NotFound(`unknown section/element: ${target}`);
    }
    throw new InvalidRequest(
      `failed to apply update: ${target} is an element of the configuration file, which cannot be removed; "delete" takes its options back to those of the file`,
    );
  }

  #add(add: Readonly<Record<string, unknown>>): void {
    const { section } = this.#options;
    const key = section.elementKey ?? '';
    const name = add[key];
    if (name === undefined) {
      throw new InvalidRequest(
        `failed to apply update: missing key ${JSON.stringify(key)} in "add" map`,
      );
    }
    if (typeof name !== 'string') {
      throw new InvalidRequest(
        `failed to apply update: ${JSON.stringify(key)}, which names the element, must be text, but is ${typeName(name)}`,
      );
    }
    const existing = this.elements();
    if (existing.some((options) => options[key] === name)) {
      throw new InvalidRequest(
        `section ${JSON.stringify(section.name)} has duplicate elements: ${JSON.stringify(name)}`,
      );
    }
    const options = this.#read(add, `${section.name}/${name}`);
    this.overrides.set(keyOf(section.name, name), {
      section: section.name,
      element: name,
      isAdded: true,
      options,
    });
  }

  #set(element: string, update: ConfigUpdate): void {
    const { section } = this.#options;
    const target = `${section.name}/${element}`;
    const key = section.elementKey;
    const existing = this.elements();
    const isKnown =
      key === undefined ? element === '' : existing.some((options) => options[key] === element);
    if (!isKnown) throw new NotFound(`unknown section/element: ${target}`);
    if (
      key !== undefined &&
      (update.set?.[key] !== undefined || update.delete?.includes(key) === true)
    ) {
      throw new InvalidRequest(`cannot override element key ${key}`);
    }
    const id = keyOf(section.name, element);
    const before = this.overrides.get(id) ?? {
      section: section.name,
      element,
      isAdded: false,
      options: {},
    };
    const options: Record<string, JsonValue> = { ...before.options };
    for (const name of update.delete ?? []) {
      requireOption(section, name, target);
      delete options[name];
    }
    Object.assign(options, this.#read(update.set ?? {}, target));
    if (Object.keys(options).length === 0 && !before.isAdded) this.overrides.delete(id);
    else this.overrides.set(id, { ...before, options });
  }

  /** Options that a client sent. Converted to refuse invalid ones, but stored as sent. */
  #read(given: Readonly<Record<string, unknown>>, target: string): Record<string, JsonValue> {
    const { section } = this.#options;
    const options: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(given)) {
      const converted = convert(section, name, { value, target });
      const refused = this.#refuseTexts(converted) ?? this.#refuseFile(name, converted);
      if (refused !== undefined) {
        throw new InvalidRequest(
          `failed to override configuration ${target}: cannot set option ${name}: ${refused}`,
        );
      }
      // JSON of the store has no integers beyond 2^53; those that fit are nanoseconds.
      options[name] = typeof value === 'bigint' ? printOption(converted) : (value as JsonValue);
    }
    return options;
  }

  #refuseFile(name: string, value: OptionValue): string | undefined {
    const isFile = own(this.#options.section.options, name)?.isFile === true;
    if (!isFile || typeof value !== 'string' || value === '') return undefined;
    return this.#options.refuseFile(value);
  }

  /** Texts that must not come from a client: the marker of a secret, and forbidden references. */
  #refuseTexts(value: OptionValue): string | undefined {
    if (typeof value === 'string') {
      if (value.includes(HIDDEN)) return `${HIDDEN} replaces a secret that is not shown`;
      return isReference(value) ? this.#options.refuseSecret(value) : undefined;
    }
    if (value === null || typeof value !== 'object') return undefined;
    return Object.values(value)
      .map((item: JsonValue) => this.#refuseTexts(item))
      .find((reason) => reason !== undefined);
  }
}

/** Elements of the file, then overrides of them, then added elements in order of their names. */
export function mergedElements(
  section: SectionSpec,
  file: FileElements,
  overrides: Overrides,
): readonly Options[] {
  const key = section.elementKey;
  const merged = (file ?? [defaultOptions(section.options)]).map((options) => {
    const element = key === undefined ? '' : String(options[key]);
    return overlay(section, options, overrides.get(keyOf(section.name, element)));
  });
  const added = [...overrides.values()]
    .filter((record) => record.section === section.name && record.isAdded)
    .sort((a, b) => (a.element < b.element ? -1 : 1))
    .map((record) => {
      const start = { ...defaultOptions(section.options), [key ?? '']: record.element };
      return overlay(section, start, record);
    });
  return [...merged, ...added];
}

export function keyOf(section: string, element: string): string {
  return `${section}/${element}`;
}

function checkShape(section: SectionSpec, element: string | undefined, update: ConfigUpdate): void {
  const refuse = (reason: string): never => {
    throw new InvalidRequest(`failed to apply update: ${reason}`);
  };
  const isListChange = update.add !== undefined || (update.remove?.length ?? 0) > 0;
  if (isListChange && section.elementKey === undefined) {
    refuse(`section ${JSON.stringify(section.name)} is not a list, cannot add new element`);
  }
  const hasElement = element !== undefined && element !== '';
  if (update.add !== undefined && hasElement) {
    refuse('an element is added at the path of its section, without the name of an element');
  }
  if ((update.remove?.length ?? 0) > 0 && hasElement) {
    refuse('an element is removed at the path of its section, without the name of an element');
  }
  const isElementChange = update.set !== undefined || update.delete !== undefined;
  if (isElementChange && element === undefined) {
    refuse("invalid update action: element not specified, are you missing a trailing '/'?");
  }
}

/** The row of an option. Throws `NotFound`. */
function requireOption(section: SectionSpec, name: string, target: string): OptionSpec {
  const spec = own(section.options, name);
  if (spec !== undefined) return spec;
  throw new NotFound(
    `failed to override configuration ${target}: unknown options [${name}] in section ${section.name}`,
  );
}

function convert(
  section: SectionSpec,
  name: string,
  { value, target }: { readonly value: unknown; readonly target: string },
): OptionValue {
  const spec = requireOption(section, name, target);
  const converted = convertOption(spec, value);
  if (converted.ok) return converted.value;
  throw new InvalidRequest(
    `failed to override configuration ${target}: cannot set option ${name}: ${converted.reason}`,
  );
}

function overlay(
  section: SectionSpec,
  options: Options,
  record: OverrideRecord | undefined,
): Options {
  if (record === undefined) return options;
  const target = `${record.section}/${record.element}`;
  const entries = Object.entries(record.options).map(
    ([name, value]) => [name, convert(section, name, { value, target })] as const,
  );
  return { ...options, ...Object.fromEntries(entries) };
}
