// Options of handlers and of configuration sections: tables of names, types, defaults and
// documentation; conversion of values from clients, files and the environment; and printing them.
import { formatClockDuration, parseClockDuration } from '@tidemark/core';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The value of each type in memory: durations are `bigint` nanoseconds, the rest is JSON. */
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
  /** The allowed texts, if not every text is valid. */
  readonly allowed?: readonly string[];
  /** Largest integer, if less than a number can hold. */
  readonly max?: number;
  /**
   * Never shown. Answers say of the configuration only whether it is set, and show a marker for a
   * handler.
   */
  readonly isSecret?: true;
  /** A map of headers; those that usually hold credentials are secrets. */
  readonly isHeaders?: true;
  /**
   * Determines who receives the secrets in the other options. May itself be a reference to a
   * secret, `env:NAME`.
   */
  readonly isReceiver?: true;
  /**
   * A file whose content leaves the machine: values from clients are checked like files of `log`
   * handlers.
   */
  readonly isFile?: true;
  /**
   * The external resource that the value names: only those listed in the configuration may be used.
   */
  readonly reaches?: 'program' | 'file' | 'host';
  /** Unknown to older clients: left out of answers while it has its default. */
  readonly isShownWhenSet?: true;
  /** A template over the event; its syntax is checked when the handler is defined. */
  readonly isTemplate?: true;
};

/** Options by name, as in files, from clients and in the API. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** The values that a table describes: each has the type of its row, and every name is present. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: OptionValues[Table[Name]['type']];
};

/** Values of an unknown table. */
export type Options = Readonly<Record<string, OptionValue>>;

export type Converted =
  | { readonly ok: true; readonly value: OptionValue }
  | { readonly ok: false; readonly reason: string };

/** The table's defaults. */
export function defaultOptions<Table extends OptionTable>(table: Table): OptionsOf<Table> {
  return optionsOf(table, ({ default: value }) => value);
}

/** Creates the options of a table: the only place where values get the types of their rows. */
export function optionsOf<Table extends OptionTable>(
  table: Table,
  valueOf: (spec: OptionSpec, name: string) => OptionValue,
): OptionsOf<Table> {
  const entries = Object.entries(table).map(([name, spec]) => [name, valueOf(spec, name)] as const);
  return Object.fromEntries(entries) as OptionsOf<Table>;
}

/** The accepted values of an option, for a message. */
export function expectation({ type, allowed, max }: OptionSpec): string {
  if (allowed !== undefined) return `one of ${allowed.map((v) => `"${v}"`).join(', ')}`;
  switch (type) {
    case 'string':
      return 'text';
    case 'integer':
      return max === undefined ? 'an integer, 0 or more' : `an integer from 0 to ${max}`;
    case 'float':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'duration':
      return 'a duration such as "10s", "5m" or "1h30m"';
    case 'size':
      return 'a number of bytes, or text such as "25m" or "1g"';
    case 'strings':
      return 'a list of texts';
    case 'string-map':
      return 'a table of texts';
    case 'json':
      return 'a table';
  }
}

/**
 * Whether an option may have a value of its type: the only rule for files, the environment, clients
 * and stored values.
 */
export function isAllowed({ type, allowed, max }: OptionSpec, value: OptionValue): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string' && (allowed === undefined || allowed.includes(value));
    case 'integer':
      return (
        Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= (max ?? Infinity)
      );
    case 'float':
      return Number.isFinite(value);
    case 'duration':
      return typeof value === 'bigint' && value >= 0n;
    default:
      return true;
  }
}

/**
 * Converts a value from a client to the option's type. Strings become numbers and durations if they
 * can be parsed as such; a bare integer is a duration in nanoseconds.
 */
export function convertOption(spec: OptionSpec, value: unknown): Converted {
  const converted = valueOf(spec, value);
  if (converted !== undefined && isAllowed(spec, converted)) return { ok: true, value: converted };
  const given = holdsSecret(spec) ? '' : `, got ${shownValue(value)}`;
  return { ok: false, reason: `expected ${expectation(spec)}${given}` };
}

/** The value in the option's type; `undefined` if it cannot be converted. */
function valueOf({ type }: OptionSpec, value: unknown): OptionValue | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'integer':
    case 'float':
      return numberOf(value);
    case 'duration':
      return nanosOf(value);
    case 'size':
      return readSize(value);
    case 'strings':
      return stringsOf(value);
    case 'string-map':
      return mapOf(value);
    case 'json':
      return isJson(value, 0) ? value : undefined;
  }
}

/** A value as quoted in a message; for composite values only their type. */
function shownValue(value: unknown): string {
  const name = typeName(value);
  if (typeof value === 'object' && value !== null) return name;
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text === name ? text : `${name} ${text.slice(0, SHOWN_CHARS)}`;
}

const SHOWN_CHARS = 100;

/** The name of a JSON value's type in messages. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : 'number';
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') return value.trim() === '' ? undefined : Number(value);
  return typeof value === 'number' ? value : undefined;
}

function nanosOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' ? parseClockDuration(value) : undefined;
}

function stringsOf(value: unknown): readonly string[] | null | undefined {
  if (value === null) return null;
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? (value as readonly string[])
    : undefined;
}

function mapOf(value: unknown): Readonly<Record<string, string>> | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every(([, item]) => typeof item === 'string')
    ? (Object.fromEntries(entries) as Record<string, string>)
    : undefined;
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

// Deep enough for any document that a service accepts, shallow enough for the stack.
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
    problems.push(`'${name}' ${converted.reason}`);
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
