// Configuration overrides: values that clients set through the API. They are merged over the file,
// validated, and applied to the running service before they are stored. All changes of one request
// succeed or fail together.
import {
  Forbidden,
  Internal,
  InvalidRequest,
  messageOf,
  NotFound,
  own,
  Unavailable,
} from '@tidemark/core';
import {
  HIDDEN,
  convertOption,
  defaultOptions,
  isReference,
  isSet,
  printOption,
  resolveSecrets,
  showOption,
  typeName,
} from '@tidemark/settings';
import type {
  JsonValue,
  OptionSpec,
  OptionTable,
  OptionValue,
  Options,
  OptionsOf,
  SectionSpec,
  Sections,
} from '@tidemark/settings';
import { checkElements } from './config.ts';
import { findSection, OVERRIDABLE_SECTIONS } from './overridable-sections.ts';
import type { Table } from '../store/table.ts';
import type { AuthRequest } from '../access/request.ts';
import type { Redactor } from '../observability/redactor.ts';

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

/** What one request changes. */
export type ConfigUpdate = {
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  readonly delete?: readonly string[] | undefined;
  readonly add?: Readonly<Record<string, unknown>> | undefined;
  readonly remove?: readonly string[] | undefined;
};

export type ElementView = {
  readonly element: string;
  readonly options: Readonly<Record<string, JsonValue>>;
  readonly redacted: readonly string[];
};

/** What somebody has to know who changes a section. */
export type SectionDescription = {
  readonly doc: string;
  /** The option that names the elements of a list; '' for a section that is none. */
  readonly elementKey: string;
  readonly options: Readonly<Record<string, OptionDescription>>;
};

type OptionDescription = Pick<OptionSpec, 'type' | 'doc'> & {
  readonly allowed: readonly string[] | undefined;
  readonly default: JsonValue;
  readonly isSecret: boolean;
};

/** What of an element does not come from the file. */
export type ElementOrigin = {
  /** The element itself was added. */
  readonly isAdded: boolean;
  readonly overridden: readonly string[];
};

/** Who changes the configuration. */
export type Caller = Pick<AuthRequest, 'query' | 'headers' | 'address'>;

/** Rejects a change that would keep the caller from changing the section again. */
export type CheckSection = (
  section: SectionSpec,
  proposed: Pick<Sections, 'elements'>,
  caller: Caller,
) => Promise<void> | void;

/** Applies sections to a part of the service; rejects when they cannot be used. */
type Apply = () => Promise<void> | void;

export type ConfigOverridesOptions = {
  readonly isEnabled: boolean;
  readonly file: ReadonlyMap<string, readonly Options[]>;
  readonly store: Table<OverrideRecord>;
  /** Start without what is stored. */
  readonly isSkipped: boolean;
  readonly check: CheckSection;
  /** Reads a secret by reference: `env:NAME`, `file:/path`. Throws when there is none. */
  readonly resolveSecret: (value: string) => string;
  /** Why clients may not use a reference to a secret. */
  readonly refuseSecret: (reference: string) => string | undefined;
  /** Why clients may not have the content of a file sent. */
  readonly refuseFile: (path: string) => string | undefined;
  /** Learns every secret that is in use. */
  readonly redactor: Redactor;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

type Overrides = ReadonlyMap<string, OverrideRecord>;

/** Elements of sections, by their names. */
type Elements = ReadonlyMap<string, readonly Options[]>;

export class ConfigOverrides implements Sections {
  readonly #options: ConfigOverridesOptions;
  readonly #followers: { readonly sections: readonly SectionSpec[]; readonly apply: Apply }[] = [];
  readonly #effective = new Map<string, readonly Options[]>();
  #overrides: Overrides = new Map();
  #lock: Promise<unknown> = Promise.resolve();

  constructor(options: ConfigOverridesOptions) {
    this.#options = options;
  }

  /**
   * Merges file and stored overrides. What is stored and cannot be used, for example because a
   * newer version refuses it, is set aside with a warning: it stays stored until its element is
   * changed.
   */
  open(): void {
    const { store, isSkipped, isEnabled } = this.#options;
    const stored = isSkipped || !isEnabled ? [] : [...store.values()];
    for (const section of OVERRIDABLE_SECTIONS) {
      const records = stored
        .filter((record) => record.section === section.name)
        .map((record) => this.#usable(section, record));
      if (!this.#openOverrides(section, records).isUsed) {
        for (const record of records) {
          const { isUsed, problem } = this.#openOverrides(section, [record]);
          if (!isUsed) this.#setAside(record, undefined, problem);
        }
      }
      this.#effective.set(section.name, this.#merge(section, this.#overrides));
    }
  }

  /** A stored override without the options that cannot be used. */
  #usable(section: SectionSpec, record: OverrideRecord): OverrideRecord {
    const options: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(record.options)) {
      const spec = own(section.options, name);
      const converted = spec === undefined ? undefined : convertOption(spec, value);
      if (converted?.ok === true) options[name] = value;
      else this.#setAside(record, name, converted?.reason ?? 'there is no such option');
    }
    return { ...record, options };
  }

  /** Uses overrides unless the section cannot be used with them. */
  #openOverrides(
    section: SectionSpec,
    records: readonly OverrideRecord[],
  ): { readonly isUsed: boolean; readonly problem: string } {
    const added = records.map((record) => [keyOf(section.name, record.element), record] as const);
    const proposed = new Map([...this.#overrides, ...added]);
    const problem = checkElements(section, this.#merge(section, proposed));
    if (problem === undefined) this.#overrides = proposed;
    return { isUsed: problem === undefined, problem: problem ?? '' };
  }

  #setAside(record: OverrideRecord, option: string | undefined, reason: string): void {
    const { section, element } = record;
    this.#options.log('stored override is not used', {
      section,
      element,
      ...(option === undefined ? {} : { option }),
      err: reason,
    });
  }

  /**
   * Applies sections now, and again after each change of one of them, which is refused when they
   * cannot be applied. Stored overrides that cannot be applied now are set aside.
   */
  async follow(sections: readonly SectionSpec[], apply: Apply): Promise<void> {
    this.#followers.push({ sections, apply });
    try {
      await apply();
    } catch (error) {
      const names = new Set(sections.map(({ name }) => name));
      const used = [...this.#overrides.values()].filter(({ section }) => names.has(section));
      if (used.length === 0) throw error;
      for (const record of used) this.#setAside(record, undefined, messageOf(error));
      this.#overrides = new Map([...this.#overrides].filter(([, each]) => !used.includes(each)));
      for (const section of sections) {
        this.#effective.set(section.name, this.#merge(section, this.#overrides));
      }
      await apply();
    }
  }

  async #apply(section: SectionSpec): Promise<void> {
    for (const { sections, apply } of this.#followers) {
      if (sections.includes(section)) await apply();
    }
  }

  /** Throws `Forbidden` where clients may neither see nor change the configuration. */
  requireEnabled(): void {
    if (!this.#options.isEnabled) throw new Forbidden('config override service is not enabled');
  }

  /** Effective options of an element with its secrets, for those who use them. */
  section<Table extends OptionTable>(
    section: SectionSpec<Table>,
    element?: string,
  ): OptionsOf<Table> | undefined {
    const elements = this.#effective.get(section.name) ?? [];
    const key = section.elementKey;
    const found =
      key === undefined
        ? elements[0]
        : element === undefined || element === ''
          ? (elements.find((options) => options['default'] === true) ??
            (elements.length === 1 ? elements[0] : undefined))
          : elements.find((options) => options[key] === element);
    return found === undefined ? undefined : this.#withSecrets(section, found);
  }

  /** All effective elements of a section, secrets included. */
  elements<Table extends OptionTable>(section: SectionSpec<Table>): readonly OptionsOf<Table>[] {
    return this.#elementsIn(this.#effective, section);
  }

  #elementsIn<Table extends OptionTable>(
    elements: Elements,
    section: SectionSpec<Table>,
  ): readonly OptionsOf<Table>[] {
    return (elements.get(section.name) ?? []).map((options) => this.#withSecrets(section, options));
  }

  /** All elements of a section as answers show them. Throws `NotFound`. */
  view(name: string): readonly ElementView[] {
    this.requireEnabled();
    const section = requireSection(name);
    return (this.#effective.get(section.name) ?? []).map((options) => viewOf(section, options));
  }

  /** Throws `NotFound`. */
  describe(name: string): SectionDescription {
    const { doc, elementKey = '', options } = requireSection(name);
    const rows = Object.entries(options).map(([option, spec]) => {
      const { type, allowed, doc: text, isSecret = false } = spec;
      const row = { type, doc: text, allowed, isSecret, default: printOption(spec.default) };
      return [option, row] as const;
    });
    return { doc, elementKey, options: Object.fromEntries(rows) };
  }

  /** Of an element that there is. */
  origin(name: string, element: string): ElementOrigin {
    const section = requireSection(name);
    const found = this.#overrides.get(keyOf(section.name, element));
    const names = Object.keys(found?.options ?? {}).toSorted();
    return {
      isAdded: found?.isAdded === true,
      overridden: names.filter((option) => option !== section.elementKey),
    };
  }

  /** Changes a section. Resolves when the change is in use and on disk. */
  async update(target: ConfigTarget, update: ConfigUpdate, caller: Caller): Promise<void> {
    this.requireEnabled();
    const change = this.#lock.then(() => this.#update(target, update, caller));
    this.#lock = change.catch(() => undefined);
    await change;
  }

  async #update(
    { section: sectionName, element }: ConfigTarget,
    update: ConfigUpdate,
    caller: Caller,
  ): Promise<void> {
    const section = findSection(sectionName);
    if (section === undefined) {
      throw new NotFound(
        `failed to override configuration ${sectionName}/${element ?? ''}: unknown section ${JSON.stringify(sectionName)}`,
      );
    }
    const place = `${sectionName}/${element ?? ''}`;
    checkShape(section, element, update);
    const overrides = new Map(this.#overrides);
    for (const name of update.remove ?? []) this.#remove(section, name, overrides);
    if (update.add !== undefined) this.#add(section, update.add, overrides);
    if (update.set !== undefined || update.delete !== undefined) {
      this.#set(section, { element: element ?? '', place }, update, overrides);
    }
    const elements = this.#merge(section, overrides);
    this.#check(section, place, elements);
    const proposed = new Map([...this.#effective, [section.name, elements]]);
    const sections: Pick<Sections, 'elements'> = {
      elements: (each) => this.#elementsIn(proposed, each),
    };
    await this.#options.check(section, sections, caller);
    await this.#commit(section, place, { elements, overrides });
  }

  async #commit(
    section: SectionSpec,
    place: string,
    next: { readonly elements: readonly Options[]; readonly overrides: Overrides },
  ): Promise<void> {
    const { store } = this.#options;
    const before = this.#effective.get(section.name) ?? [];
    const ids = [...new Set([...this.#overrides.keys(), ...next.overrides.keys()])].filter(
      // What was set aside stays stored.
      (id) => this.#overrides.get(id) !== next.overrides.get(id),
    );
    try {
      this.#effective.set(section.name, next.elements);
      await this.#apply(section);
      await store.change(ids.map((id) => ({ id, value: next.overrides.get(id) })));
    } catch (error) {
      // Back to what worked and is stored.
      this.#effective.set(section.name, before);
      await this.#apply(section);
      if (error instanceof Unavailable) throw error;
      const reason = messageOf(error);
      throw new Internal(`failed to update configuration ${place}: ${reason}`, { cause: error });
    }
    this.#overrides = next.overrides;
  }

  #remove(section: SectionSpec, name: string, overrides: Map<string, OverrideRecord>): void {
    const id = keyOf(section.name, name);
    if (this.#overrides.get(id)?.isAdded === true) {
      overrides.delete(id);
      return;
    }
    const place = `${section.name}/${name}`;
    const key = section.elementKey ?? '';
    const file = this.#options.file.get(section.name) ?? [];
    if (!file.some((options) => options[key] === name)) {
      throw new NotFound(`unknown section/element: ${place}`);
    }
    throw new InvalidRequest(
      `failed to apply update: ${place} is an element of the configuration file, which cannot be removed; "delete" takes its options back to those of the file`,
    );
  }

  #add(
    section: SectionSpec,
    add: Readonly<Record<string, unknown>>,
    overrides: Map<string, OverrideRecord>,
  ): void {
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
    const existing = this.#merge(section, overrides);
    if (existing.some((options) => options[key] === name)) {
      throw new InvalidRequest(
        `section ${JSON.stringify(section.name)} has duplicate elements: ${JSON.stringify(name)}`,
      );
    }
    const options = this.#read(section, add, `${section.name}/${name}`);
    overrides.set(keyOf(section.name, name), {
      section: section.name,
      element: name,
      isAdded: true,
      options,
    });
  }

  #set(
    section: SectionSpec,
    { element, place }: { readonly element: string; readonly place: string },
    update: ConfigUpdate,
    overrides: Map<string, OverrideRecord>,
  ): void {
    const key = section.elementKey;
    const existing = this.#merge(section, overrides);
    const isKnown =
      key === undefined ? element === '' : existing.some((options) => options[key] === element);
    if (!isKnown) throw new NotFound(`unknown section/element: ${place}`);
    if (
      key !== undefined &&
      (update.set?.[key] !== undefined || update.delete?.includes(key) === true)
    ) {
      throw new InvalidRequest(`cannot override element key ${key}`);
    }
    const id = keyOf(section.name, element);
    const before = overrides.get(id) ?? {
      section: section.name,
      element,
      isAdded: false,
      options: {},
    };
    const options: Record<string, JsonValue> = { ...before.options };
    for (const name of update.delete ?? []) {
      requireOption(section, name, place);
      delete options[name];
    }
    Object.assign(options, this.#read(section, update.set ?? {}, place));
    if (Object.keys(options).length === 0 && !before.isAdded) overrides.delete(id);
    else overrides.set(id, { ...before, options });
  }

  /**
   * Options that a client sent. Converted once to refuse what does not fit, stored as they were
   * sent.
   */
  #read(
    section: SectionSpec,
    given: Readonly<Record<string, unknown>>,
    place: string,
  ): Record<string, JsonValue> {
    const options: Record<string, JsonValue> = {};
    for (const [name, value] of Object.entries(given)) {
      const converted = convert(section, name, { value, place });
      const refused = this.#refuseTexts(converted) ?? this.#refuseFile(section, name, converted);
      if (refused !== undefined) {
        throw new InvalidRequest(
          `failed to override configuration ${place}: cannot set option ${name}: ${refused}`,
        );
      }
      // Integers beyond 2^53 are no JSON of the store; those that fit are nanoseconds.
      options[name] = typeof value === 'bigint' ? printOption(converted) : (value as JsonValue);
    }
    return options;
  }

  #refuseFile(section: SectionSpec, name: string, value: OptionValue): string | undefined {
    const isFile = own(section.options, name)?.isFile === true;
    if (!isFile || typeof value !== 'string' || value === '') return undefined;
    return this.#options.refuseFile(value);
  }

  /**
   * What must not come from a client: the marker of a secret, and references to what it may not
   * read.
   */
  #refuseTexts(value: OptionValue): string | undefined {
    if (typeof value === 'string') {
      if (value.includes(HIDDEN)) return `${HIDDEN} stands for a secret that is not shown`;
      return isReference(value) ? this.#options.refuseSecret(value) : undefined;
    }
    if (value === null || typeof value !== 'object') return undefined;
    return Object.values(value)
      .map((item: JsonValue) => this.#refuseTexts(item))
      .find((reason) => reason !== undefined);
  }

  /** File, then overrides of its elements, then added elements in order of their names. */
  #merge(section: SectionSpec, overrides: Overrides): readonly Options[] {
    const key = section.elementKey;
    const file = this.#options.file.get(section.name) ?? [defaultOptions(section.options)];
    const merged = file.map((options) => {
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

  #check(section: SectionSpec, place: string, elements: readonly Options[]): void {
    const problem = checkElements(section, elements);
    if (problem === undefined) return;
    throw new InvalidRequest(
      `failed to override configuration ${place === '' ? section.name : place}: failed validation: ${problem}`,
    );
  }

  #withSecrets<Table extends OptionTable>(
    section: SectionSpec<Table>,
    options: Options,
  ): OptionsOf<Table> {
    const { resolveSecret, redactor } = this.#options;
    const known = resolveSecrets(section.options, options, (value) => {
      const secret = resolveSecret(value);
      if (isReference(value)) redactor.add(secret);
      return secret;
    });
    this.#learn(section, known);
    return known;
  }

  #learn(section: SectionSpec, options: Options): void {
    const { redactor } = this.#options;
    redactor.addCredentials(options);
    for (const [name, spec] of Object.entries(section.options)) {
      const value = options[name];
      if (spec.isHeaders === true) redactor.addHeaders(textsOf(value));
      if (spec.isSecret !== true || value === spec.default) continue;
      if (typeof value === 'string') redactor.add(value);
      else redactor.addCredentials(textsOf(value));
    }
  }
}

/** The texts of a table of texts. */
function textsOf(value: OptionValue | undefined): Readonly<Record<string, string>> {
  if (value === null || typeof value !== 'object') return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

function keyOf(section: string, element: string): string {
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

function requireSection(name: string): SectionSpec {
  const section = findSection(name);
  if (section === undefined) throw new NotFound(`unknown section: ${name}`);
  return section;
}

/** The row of an option. Throws `NotFound`. */
function requireOption(section: SectionSpec, name: string, place: string): OptionSpec {
  const spec = own(section.options, name);
  if (spec !== undefined) return spec;
  throw new NotFound(
    `failed to override configuration ${place}: unknown options [${name}] in section ${section.name}`,
  );
}

function convert(
  section: SectionSpec,
  name: string,
  { value, place }: { readonly value: unknown; readonly place: string },
): OptionValue {
  const spec = requireOption(section, name, place);
  const converted = convertOption(spec, value);
  if (converted.ok) return converted.value;
  throw new InvalidRequest(
    `failed to override configuration ${place}: cannot set option ${name}: ${converted.reason}`,
  );
}

function overlay(
  section: SectionSpec,
  options: Options,
  record: OverrideRecord | undefined,
): Options {
  if (record === undefined) return options;
  const place = `${record.section}/${record.element}`;
  const entries = Object.entries(record.options).map(
    ([name, value]) => [name, convert(section, name, { value, place })] as const,
  );
  return { ...options, ...Object.fromEntries(entries) };
}

function viewOf(section: SectionSpec, options: Options): ElementView {
  const redacted: string[] = [];
  const shown: [string, JsonValue][] = [];
  for (const [name, spec] of Object.entries(section.options).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const value = options[name] ?? spec.default;
    if (spec.isShownWhenSet === true && !isSet(value)) continue;
    if (spec.isSecret === true) redacted.push(name);
    shown.push([
      name,
      spec.isSecret === true ? isSet(value) : showOption(spec, printOption(value)),
    ]);
  }
  const element = section.elementKey === undefined ? '' : String(options[section.elementKey]);
  return { element, options: Object.fromEntries(shown), redacted };
}
