// Sections of the configuration as answers show them.
import { NotFound } from '@tidemark/core';
import { isSet, printOption, showOption } from '@tidemark/settings';
import type { JsonValue, Options, OptionSpec, SectionSpec } from '@tidemark/settings';
import { findSection } from './overridable-sections.ts';

export type ElementView = {
  readonly element: string;
  readonly options: Readonly<Record<string, JsonValue>>;
  readonly redacted: readonly string[];
};

/** The description of a section for those who change it. */
export type SectionDescription = {
  readonly doc: string;
  /** The option that names the elements of a list; '' for a section that is no list. */
  readonly elementKey: string;
  readonly options: Readonly<Record<string, OptionDescription>>;
};

type OptionDescription = Pick<OptionSpec, 'type' | 'doc'> & {
  readonly allowed: readonly string[] | undefined;
  readonly default: JsonValue;
  readonly isSecret: boolean;
};

/** Throws `NotFound`. */
export function requireSection(name: string): SectionSpec {
  const section = findSection(name);
  if (section === undefined) throw new NotFound(`unknown section: ${name}`);
  return section;
}

/** Throws `NotFound`. */
export function describeSection(name: string): SectionDescription {
  const { doc, elementKey = '', options } = requireSection(name);
  const rows = Object.entries(options).map(([option, spec]) => {
    const { type, allowed, doc: text, isSecret = false } = spec;
    const row = { type, doc: text, allowed, isSecret, default: printOption(spec.default) };
    return [option, row] as const;
  });
  return { doc, elementKey, options: Object.fromEntries(rows) };
}

export function viewOf(section: SectionSpec, options: Options): ElementView {
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
