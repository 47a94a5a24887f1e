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
import { convertOption, isReference, resolveSecrets } from '@tidemark/settings';
import type {
  JsonValue,
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
import { keyOf, mergedElements, OverrideChange } from './override-change.ts';
import type { ConfigTarget, ConfigUpdate, OverrideRecord, Overrides } from './override-change.ts';
import { requireSection, viewOf } from './section-views.ts';
import type { ElementView } from './section-views.ts';

/** The parts of an element that do not come from the file. */
export type ElementOrigin = {
  /** The element itself was added. */
  readonly isAdded: boolean;
  readonly overridden: readonly string[];
};

/** The client that changes the configuration. */
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
  /** Start without stored overrides. */
  readonly isSkipped: boolean;
  readonly check: CheckSection;
  /** Reads a secret by reference: `env:NAME`, `file:/path`. Throws when there is none. */
  readonly resolveSecret: (value: string) => string;
  /** Why clients may not use a reference to a secret. */
  readonly refuseSecret: (reference: string) => string | undefined;
  /** Why clients may not have the content of a file sent. */
  readonly refuseFile: (path: string) => string | undefined;
  /** Gets every secret that is in use. */
  readonly redactor: Redactor;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

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
   * Merges file and stored overrides. Overrides that cannot be used, for example because a newer
   * version refuses them, are set aside with a warning: they stay stored until their element is
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

  /** A stored override without its unusable options. */
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

  /** Uses overrides unless the section is invalid with them. */
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

  /** Throws `Forbidden` if clients may neither see nor change the configuration. */
  requireEnabled(): void {
    if (!this.#options.isEnabled) throw new Forbidden('config override service is not enabled');
  }

  /** Effective options of an element with its secrets, for internal use. */
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

  /** The origin of an existing element. */
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
    const target = `${sectionName}/${element ?? ''}`;
    const change = this.#changeOf(section);
    change.make(element, update);
    const { overrides } = change;
    const elements = change.elements();
    this.#check(section, target, elements);
    const proposed = new Map([...this.#effective, [section.name, elements]]);
    const sections: Pick<Sections, 'elements'> = {
      elements: (each) => this.#elementsIn(proposed, each),
    };
    await this.#options.check(section, sections, caller);
    await this.#commit(section, target, { elements, overrides });
  }

  async #commit(
    section: SectionSpec,
    target: string,
    next: { readonly elements: readonly Options[]; readonly overrides: Overrides },
  ): Promise<void> {
    const { store } = this.#options;
    const before = this.#effective.get(section.name) ?? [];
    const ids = [...new Set([...this.#overrides.keys(), ...next.overrides.keys()])].filter(
      // Overrides that were set aside stay stored.
      (id) => this.#overrides.get(id) !== next.overrides.get(id),
    );
    try {
      this.#effective.set(section.name, next.elements);
      await this.#apply(section);
      await store.change(ids.map((id) => ({ id, value: next.overrides.get(id) })));
    } catch (error) {
      // Restores the options that worked and are stored.
      this.#effective.set(section.name, before);
      await this.#apply(section);
      if (error instanceof Unavailable) throw error;
      const reason = messageOf(error);
      throw new Internal(`failed to update configuration ${target}: ${reason}`, { cause: error });
    }
    this.#overrides = next.overrides;
  }

  #changeOf(section: SectionSpec): OverrideChange {
    const { file, refuseSecret, refuseFile } = this.#options;
    const options = { section, file: file.get(section.name), before: this.#overrides };
    return new OverrideChange({ ...options, refuseSecret, refuseFile });
  }

  #merge(section: SectionSpec, overrides: Overrides): readonly Options[] {
    return mergedElements(section, this.#options.file.get(section.name), overrides);
  }

  #check(section: SectionSpec, target: string, elements: readonly Options[]): void {
    const problem = checkElements(section, elements);
    if (problem === undefined) return;
    throw new InvalidRequest(
      `failed to override configuration ${target === '' ? section.name : target}: failed validation: ${problem}`,
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
