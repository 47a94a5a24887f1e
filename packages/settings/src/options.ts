// Options of handlers and of configuration sections: tables of names, types, defaults and
// documents; how values that clients, files and the environment give are converted; how they are
// printed again.
import { formatClockDuration, parseClockDuration } from '@tidemark/core';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** What a value of each type is in memory: durations are `bigint` nanoseconds, the rest is JSON. */
type OptionValues = {
  string: string;
  boolean: boolean;
  integer: number;
  float: number;
  duration: bigint;
  /** Bytes. */
  size: number;
  strings: readonly string[] | null;
  'string-map': Readonly<Record<string, string>> | null;
  json: JsonValue;
};

export type OptionType = keyof OptionValues;

export type OptionValue = OptionValues[OptionType];

/** One row of a table of options. */
export type OptionSpec<Type extends OptionType = OptionType> = {
  readonly type: Type;
  readonly default: OptionValues[Type];
  readonly doc: string;
  /** The texts that there are, where not every text means something. */
  readonly allowed?: readonly string[];
  /**
   * Never shown. Of the configuration, answers say only whether it is set; of a handler they show a
   * marker.
   */
  readonly isSecret?: true;
  /** A map of headers, of which those that commonly hold credentials are secrets. */
  readonly isHeaders?: true;
  /**
   * Says who gets the secrets among the other options. May be a secret's reference itself,
   * `env:NAME`.
   */
  readonly isReceiver?: true;
  /**
   * A file whose content leaves the machine: what clients set is checked as files of `log` handlers
   * are.
   */
  readonly isFile?: true;
  /**
   * What the value names and the handler reaches: only what the configuration lists may be used.
   */
  readonly reaches?: 'program' | 'file' | 'host';
  /** Not part of what older clients know: left out of answers while it has its default. */
  readonly isShownWhenSet?: true;
  /** A template over the event; its syntax is checked when the handler is defined. */
  readonly isTemplate?: true;
};

/** Options by name, as files, clients and the API write them. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** The values that a table describes: each has the type of its row, and every name is present. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: OptionValues[Table[Name]['type']];
};

/** Values of a table that is not known here. */
export type Options = Readonly<Record<string, OptionValue>>;

export type Converted =
  | { readonly ok: true; readonly value: OptionValue }
  | { readonly ok: false; readonly reason: string };

/** The table's defaults. */
export function defaultOptions<Table extends OptionTable>(table: Table): OptionsOf<Table> {
  return optionsOf(table, ({ default: value }) => value);
}

/** Makes the options of a table: the one place where values get the types of their rows. */
export function optionsOf<Table extends OptionTable>(
  table: Table,
  valueOf: (spec: OptionSpec, name: string) => OptionValue,
): OptionsOf<Table> {
  const entries = Object.entries(table).map(([name, spec]) => [name, valueOf(spec, name)] as const);
  return Object.fromEntries(entries) as OptionsOf<Table>;
}

/**
 * Converts what a client sent into the option's type. Strings become numbers and durations where
 * they can be read as such; a bare integer is a duration in nanoseconds.
 */
export function convertOption({ type, allowed }: OptionSpec, value: unknown): Converted {
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return no(value, 'string');
      return allowed === undefined || allowed.includes(value)
        ? ok(value)
        : no(value, `one of ${allowed.join(', ')}`);
    case 'boolean':
      return typeof value === 'boolean' ? ok(value) : no(value, 'bool');
    case 'integer':
      return convertNumber(value, true);
    case 'float':
      return convertNumber(value, false);
    case 'duration':
      return convertDuration(value);
    case 'size': {
      const bytes = readSize(value);
      return bytes === undefined ? no(value, 'bytes') : ok(bytes);
    }
    case 'strings':
      if (value === null) return ok(null);
      if (typeof value === 'string') return ok([value]);
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? ok(value as readonly string[])
        : no(value, '[]string');
    case 'string-map':
      return convertMap(value);
    case 'json':
      return isJson(value, 0) ? ok(value) : no(value, 'object');
  }
}

function ok(value: OptionValue): Converted {
  return { ok: true, value };
}

function no(value: unknown, into: string): Converted {
  const shown = typeof value === 'string' ? `string ${JSON.stringify(value)}` : typeName(value);
  return { ok: false, reason: `cannot convert ${shown} into ${into}` };
}

/** How error texts call the type of a JSON value; clients of the older API know these names. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value;
}

function convertNumber(value: unknown, isInteger: boolean): Converted {
  const into = isInteger ? 'int' : 'float64';
  const number =
    typeof value === 'string' && value.trim() !== ''
      ? Number(value)
      : typeof value === 'bigint'
        ? Number(value)
        : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return no(value, into);
  return isInteger && !Number.isSafeInteger(number) ? no(value, into) : ok(number);
}

function convertDuration(value: unknown): Converted {
  if (typeof value === 'bigint') return ok(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return ok(BigInt(value));
  const nanos = typeof value === 'string' ? parseClockDuration(value) : undefined;
  return nanos === undefined ? no(value, 'duration') : ok(nanos);
}

/** Bytes of `25000000`, `"25m"`, `"1g"` (powers of 1024); `undefined` for anything else. */
export function readSize(value: unknown): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) && value >= 0 ? Number(value) : undefined;
  }
  const match = typeof value === 'string' ? /^(\d+)([kmg]?)$/i.exec(value) : null;
  if (match === null) return undefined;
  const power = ['', 'k', 'm', 'g'].indexOf((match[2] ?? '').toLowerCase());
  return Number(match[1]) * 1024 ** power;
}

function convertMap(value: unknown): Converted {
  if (value === null) return ok(null);
  if (typeof value !== 'object' || Array.isArray(value)) return no(value, 'map[string]string');
  const entries = Object.entries(value);
  return entries.every(([, item]) => typeof item === 'string')
    ? ok(Object.fromEntries(entries) as Record<string, string>)
    : no(value, 'map[string]string');
}

// Deep enough for any document that a service takes, shallow enough for the stack.
const JSON_DEPTH_MAX = 64;

function isJson(value: unknown, depth: number): value is JsonValue {
  if (depth > JSON_DEPTH_MAX) return false;
  if (value === null || ['boolean', 'number', 'string'].includes(typeof value)) return true;
  if (typeof value !== 'object') return false;
  return Object.values(value).every((item) => isJson(item, depth + 1));
}

/** Prints a value for an answer; durations as text. */
export function printOption(value: OptionValue): JsonValue {
  return typeof value === 'bigint' ? formatClockDuration(value) : value;
}

/**
 * Whether a value counts as set: not empty, not zero. Decides what is shown in a secret's place.
 */
export function isSet(value: OptionValue): boolean {
  if (value === null || value === '' || value === false || value === 0 || value === 0n)
    return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

export type Decoded<Table extends OptionTable> =
  | { readonly ok: true; readonly options: OptionsOf<Table> }
  | { readonly ok: false; readonly reason: string };

/** Reads a handler's `options` object by its table; unknown names are refused. */
export function decodeOptions<Table extends OptionTable>(
  table: Table,
  kind: string,
  value: unknown,
): Decoded<Table> {
  if (
    value !== undefined &&
    value !== null &&
    (typeof value !== 'object' || Array.isArray(value))
  ) {
    return { ok: false, reason: `options of a ${kind} handler must be an object` };
  }
  const given = new Map<string, unknown>(Object.entries(value ?? {}));
  const problems: string[] = [];
  const options = optionsOf(table, (spec, name) => {
    const raw = given.get(name);
    given.delete(name);
    if (raw === undefined) return spec.default;
    const converted = convertOption(spec, raw);
    if (converted.ok) return converted.value;
    problems.push(`'${name}' ${holdsSecret(spec) ? `expected ${spec.type}` : converted.reason}`);
    return spec.default;
  });
  if (given.size > 0) problems.push(`'' has invalid keys: ${[...given.keys()].sort().join(', ')}`);
  if (problems.length === 0) return { ok: true, options };
  const list = problems.map((problem) => `* ${problem}`).join('\n');
  const reason = `failed to decode options of a ${kind} handler: ${problems.length} error(s) decoding:\n\n${list}`;
  return { ok: false, reason };
}

/** Whether a value of this option may hold a secret, so that no error repeats it. */
export function holdsSecret(spec: OptionSpec): boolean {
  return spec.isSecret === true || spec.isHeaders === true;
}

/** Milliseconds of a duration, rounded up so that a positive duration never becomes zero. */
export function durationMs(nanos: bigint): number {
  return Number((nanos + 999_999n) / 1_000_000n);
}
