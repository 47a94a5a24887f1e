// Converts typed values of a configuration element to a change request for the engine.
import type { ConfigChange, ConfigElement, ConfigOption } from '@tidemark/client';

import { printOption, readOption } from './option-text.ts';

type Table = Readonly<Record<string, ConfigOption>>;

export type Typed = Readonly<Record<string, string>>;

/** The options of an element as typed texts; secrets are empty. */
export function typedOf({ options }: ConfigElement, table: Table): Typed {
  const texts = Object.entries(table).map(([name, { isSecret, type }]) => [
    name,
    isSecret ? '' : printOption(options[name], type),
  ]);
  return Object.fromEntries(texts) as Typed;
}

/** The value of an option with an empty field; numbers and durations are never empty. */
const NOTHING: Readonly<Record<string, unknown>> = {
  string: '',
  strings: [],
  'string-map': {},
  json: null,
};

/**
 * The changes to request; empty if nothing was typed. `undefined` when an option lost a required
 * value. `taken` names options that are reset to the file.
 */
export function changeOf(
  table: Table,
  {
    before,
    typed,
    taken,
  }: {
    readonly before: Typed;
    readonly typed: Typed;
    readonly taken: ReadonlySet<string>;
  },
): ConfigChange | undefined {
  const set: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(table)) {
    const text = typed[name] ?? '';
    if (text === before[name]) continue;
    const value = readOption(option, text) ?? NOTHING[option.type];
    if (value === undefined) return undefined;
    set[name] = value;
  }
  return {
    ...(Object.keys(set).length === 0 ? {} : { set }),
    ...(taken.size === 0 ? {} : { delete: [...taken] }),
  };
}
