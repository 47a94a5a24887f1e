// Configuration as data: tables of options, by section, from which defaults, the commented default
// file, validation, environment variables, flags and the type of the configuration follow. Reads no
// file and no environment itself.
import { NANOS_PER_MILLISECOND } from '@tidemark/core';

import type {
  Options,
  OptionsOf,
  OptionSpec,
  OptionTable,
  OptionType,
  OptionValue,
} from '../options.ts';

/**
 * A table of the file (`[http]`), or with `isRepeated` an array of tables (`[[udp]]`). `''` names
 * the top level.
 */
export type ConfigSection<T extends OptionTable = OptionTable, R extends boolean = boolean> = {
  readonly doc: string;
  readonly options: T;
  readonly isRepeated: R;
};

export type ConfigSchema = Readonly<Record<string, ConfigSection>>;

type Camel<S extends string> = S extends `${infer A}-${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S extends `${infer A}_${infer B}`
    ? `${A}${Capitalize<Camel<B>>}`
    : S;

type Unit<T extends OptionType> = T extends 'duration' ? 'Ms' : T extends 'size' ? 'Bytes' : '';

type ConfigValue<T extends OptionType> = T extends 'duration'
  ? number
  : NonNullable<OptionsOf<{ readonly value: OptionSpec<T> }>['value']>;

type SectionValues<T extends OptionTable> = {
  readonly [N in keyof T & string as `${Camel<N>}${Unit<T[N]['type']>}`]: ConfigValue<T[N]['type']>;
};

/**
 * The configuration of a schema: camelCase names; durations are milliseconds and end in `Ms`, sizes
 * end in `Bytes`; unset values are an empty list or table.
 */
export type ConfigOf<S extends ConfigSchema> = {
  readonly [N in keyof S & string as Camel<N>]: S[N]['isRepeated'] extends true
    ? readonly SectionValues<S[N]['options']>[]
    : SectionValues<S[N]['options']>;
};

/** A `[section]`. */
export function configSection<const T extends OptionTable>(
  doc: string,
  options: T,
): ConfigSection<T, false> {
  return { doc, options, isRepeated: false };
}

/** A `[[section]]`, repeated any number of times. */
export function configSections<const T extends OptionTable>(
  doc: string,
  options: T,
): ConfigSection<T, true> {
  return { doc, options, isRepeated: true };
}

/** The configuration for these options of sections: one element, or all of a repeated one. */
export function configOf<S extends ConfigSchema>(
  schema: S,
  sections: ReadonlyMap<string, readonly Options[]>,
): ConfigOf<S> {
  const config = Object.entries(schema).map(([name, { options: table, isRepeated }]) => {
    const elements = (sections.get(name) ?? []).map((options) => valuesOf(table, options));
    return [camelCase(name), isRepeated ? elements : elements[0]] as const;
  });
  return Object.fromEntries(config) as ConfigOf<S>;
}

function valuesOf(table: OptionTable, options: Options): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, spec]) => [
      propertyName(name, spec.type),
      valueOf(spec.type, options[name] ?? spec.default),
    ]),
  );
}

function valueOf(type: OptionType, value: OptionValue): unknown {
  if (typeof value === 'bigint') return Number(value) / Number(NANOS_PER_MILLISECOND);
  return value ?? (type === 'strings' ? [] : {});
}

function propertyName(name: string, type: OptionType): string {
  const unit = type === 'duration' ? 'Ms' : type === 'size' ? 'Bytes' : '';
  return camelCase(name) + unit;
}

function camelCase(name: string): string {
  return name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
