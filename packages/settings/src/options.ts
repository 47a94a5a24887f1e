// Options of handlers and of configuration sections: tables of names, types, defaults and
// documents; how values that clients, files and the environment give are converted; how they are
// printed again.
import { formatClockDuration, parseClockDuration } from '@tidemark/core';

export type OptionType =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'float'
  | 'duration'
  | 'strings'
  | 'string-map'
  | 'json';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A value in memory: durations are `bigint` nanoseconds, everything else is what JSON has. */
export type OptionValue = JsonValue | bigint;

/** One row of a table of options. */
export type OptionSpec = {
  readonly name: string;
  readonly type: OptionType;
  readonly default: OptionValue;
  readonly doc: string;
  /**
   * Never shown. Of the configuration, answers say only whether it is set; of a handler they show a
   * marker.
   */
  readonly isSecret?: true;
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
  /** Not part of what older clients know: left out of answers while it has its default. */
  readonly isShownWhenSet?: true;
  /** A template over the event; its syntax is checked when the handler is defined. */
  readonly isTemplate?: true;
};

/** Values by option name; every name of the table is present. */
export type Options = Readonly<Record<string, OptionValue>>;

export type Converted =
  | { readonly ok: true; readonly value: OptionValue }
  | { readonly ok: false; readonly reason: string };

/** The table's defaults. */
export function defaultOptions(table: readonly OptionSpec[]): Options {
  return Object.fromEntries(table.map((spec) => [spec.name, spec.default]));
}

/**
 * Converts what a client sent into the option's type. Strings become numbers and durations where
 * they can be read as such; a bare integer is a duration in nanoseconds.
 */
export function convertOption(type: OptionType, value: unknown): Converted {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? ok(value) : no(value, 'string');
    case 'boolean':
      return typeof value === 'boolean' ? ok(value) : no(value, 'bool');
    case 'integer':
      return convertNumber(value, true);
    case 'float':
      return convertNumber(value, false);
    case 'duration':
      return convertDuration(value);
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

export type Decoded =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly reason: string };

/** Reads a handler's `options` object by its table; unknown names are refused. */
export function decodeOptions(table: readonly OptionSpec[], kind: string, value: unknown): Decoded {
  if (
    value !== undefined &&
    value !== null &&
    (typeof value !== 'object' || Array.isArray(value))
  ) {
    return { ok: false, reason: `options of a ${kind} handler must be an object` };
  }
  const given = new Map(Object.entries(value ?? {}));
  const options: Record<string, OptionValue> = { ...defaultOptions(table) };
  const problems: string[] = [];
  for (const spec of table) {
    const raw: unknown = given.get(spec.name);
    given.delete(spec.name);
    if (raw === undefined) continue;
    const converted = convertOption(spec.type, raw);
    if (converted.ok) options[spec.name] = converted.value;
    else
      problems.push(
        `'${spec.name}' ${holdsSecret(spec) ? `expected ${spec.type}` : converted.reason}`,
      );
  }
  if (given.size > 0) problems.push(`'' has invalid keys: ${[...given.keys()].sort().join(', ')}`);
  if (problems.length === 0) return { ok: true, options };
  const list = problems.map((problem) => `* ${problem}`).join('\n');
  const reason = `failed to decode options of a ${kind} handler: ${problems.length} error(s) decoding:\n\n${list}`;
  return { ok: false, reason };
}

/** Whether a value of this option may hold a secret, so that no error repeats it. */
export function holdsSecret(spec: OptionSpec): boolean {
  return spec.isSecret === true || spec.name === 'headers';
}

/** Typed look-ups; a wrong type is a bug in a table. */
export function text(options: Options, name: string): string {
  const value = options[name];
  return typeof value === 'string' ? value : '';
}

export function flag(options: Options, name: string): boolean {
  return options[name] === true;
}

export function integer(options: Options, name: string): number {
  const value = options[name];
  return typeof value === 'number' ? value : 0;
}

/** Milliseconds of a duration option, rounded up so that a positive duration never becomes zero. */
export function durationMs(options: Options, name: string): number {
  const value = options[name];
  return typeof value === 'bigint' ? Number((value + 999_999n) / 1_000_000n) : 0;
}

export function strings(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : [];
}

export function map(options: Options, name: string): Readonly<Record<string, string>> {
  const value = options[name];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}
