// Values inside templates, and how they print. Go's types matter: a missing key of a map of strings
// prints nothing, one of a map of anything prints `<no value>`.
import { formatClockDuration } from '@tidemark/core';
import { formatFloatGeneral } from '../lambda/text.ts';

/** A record with fixed fields; `typeName` appears in errors. */
export class TemplateStruct {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, TemplateValue>;

  /** Takes ownership of a map: the caller must not change it any more. */
  constructor(
    typeName: string,
    fields: ReadonlyMap<string, TemplateValue> | Readonly<Record<string, TemplateValue>>,
  ) {
    this.typeName = typeName;
    this.fields = fields instanceof Map ? fields : new Map(Object.entries(fields));
  }
}

/**
 * A map by text, read from `source` on first use. `zero` is the result of `index` for a missing
 * key.
 */
export class TemplateMap {
  readonly zero: TemplateValue;
  /** There is no map: `null` in JSON, otherwise like an empty one. */
  readonly isNil: boolean;
  readonly #source: Iterable<readonly [string, TemplateValue]>;
  #entries: ReadonlyMap<string, TemplateValue> | undefined;

  constructor(
    source: Iterable<readonly [string, TemplateValue]>,
    zero: TemplateValue,
    isNil = false,
  ) {
    this.#source = source;
    this.zero = zero;
    this.isNil = isNil;
  }

  /** In order of the keys. */
  get entries(): ReadonlyMap<string, TemplateValue> {
    this.#entries ??= new Map([...this.#source].sort(([a], [b]) => (a < b ? -1 : 1)));
    return this.#entries;
  }
}

export class TemplateTime {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class TemplateDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Integers are `bigint`, floats are `number`, nothing is `undefined`. */
export type TemplateValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | TemplateStruct
  | TemplateMap
  | TemplateTime
  | TemplateDuration
  | readonly TemplateValue[];

/** As `%v` prints it. */
export function printValue(value: TemplateValue): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return formatFloatGeneral(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return '<no value>';
    default:
      return printComposite(value);
  }
}

function printComposite(
  value: Exclude<TemplateValue, string | number | bigint | boolean | undefined>,
): string {
  if (value === null) return '<nil>';
  if (value instanceof TemplateTime)
    return formatGoTime(value.nanos, '2006-01-02 15:04:05.999999999 -0700 MST');
  if (value instanceof TemplateDuration) return formatClockDuration(value.nanos);
  if (value instanceof TemplateMap) {
    return `map[${[...value.entries].map(([k, v]) => `${k}:${nested(v)}`).join(' ')}]`;
  }
  if (value instanceof TemplateStruct) {
    return `{${[...value.fields.values()].map(nested).join(' ')}}`;
  }
  return `[${(value as readonly TemplateValue[]).map(nested).join(' ')}]`;
}

const nested = (value: TemplateValue): string =>
  value === undefined ? '<nil>' : printValue(value);

/** Whether `if`, `with`, `and`, `or` treat the value as true. */
export function isTrue(value: TemplateValue): boolean {
  if (value === undefined || value === null) return false;
  if (value instanceof TemplateMap) return value.entries.size > 0;
  if (value instanceof TemplateDuration) return value.nanos !== 0n;
  if (value instanceof TemplateStruct || value instanceof TemplateTime) return true;
  if (typeof value === 'object') return value.length > 0;
  return Boolean(value);
}

/** Name of a value's type in errors. */
export function typeName(value: TemplateValue): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'float64';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'undefined':
      return '<nil>';
    default:
      if (value === null) return '<nil>';
      if (value instanceof TemplateStruct) return value.typeName;
      if (value instanceof TemplateTime) return 'time.Time';
      if (value instanceof TemplateDuration) return 'time.Duration';
      if (value instanceof TemplateMap) {
        return value.zero === '' ? 'map[string]string' : 'map[string]interface {}';
      }
      return '[]interface {}';
  }
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const LAYOUT =
  /January|Jan|Monday|Mon|MST|2006|Z07:00:00|Z07:00|Z0700|-07:00:00|-07:00|-0700|-07|[.,]0+|[.,]9+|PM|pm|002|01|02|03|04|05|06|15|_2|1|2|3|4|5/g;

/** A time in UTC by a reference-time layout (`2006-01-02T15:04:05Z07:00`). */
export function formatGoTime(nanos: bigint, layout: string): string {
  const seconds = nanos >= 0n ? nanos / 1_000_000_000n : (nanos - 999_999_999n) / 1_000_000_000n;
  const fraction = String(nanos - seconds * 1_000_000_000n).padStart(9, '0');
  const date = new Date(Number(seconds) * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const hour12 = date.getUTCHours() % 12 || 12;
  return layout.replace(LAYOUT, (part, offset: number) => {
    if (/^[.,]/.test(part)) {
      // A fraction only counts after the seconds.
      if (!layout.slice(0, offset).endsWith('05') && !/[.,]0+$/.test(part)) return part;
      const digits = fraction.slice(0, part.length - 1);
      if (part[1] === '0') return part[0] + digits;
      const trimmed = digits.replace(/0+$/, '');
      return trimmed === '' ? '' : part[0] + trimmed;
    }
    switch (part) {
      case '2006':
        return String(date.getUTCFullYear()).padStart(4, '0');
      case '06':
        return two(date.getUTCFullYear() % 100);
      case '01':
        return two(date.getUTCMonth() + 1);
      case '1':
        return String(date.getUTCMonth() + 1);
      case 'January':
        return MONTHS[date.getUTCMonth()] ?? '';
      case 'Jan':
        return (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3);
      case '02':
        return two(date.getUTCDate());
      case '_2':
        return String(date.getUTCDate()).padStart(2, ' ');
      case '2':
        return String(date.getUTCDate());
      case '002': {
        const start = Date.UTC(date.getUTCFullYear(), 0, 1);
        return String(Math.floor((date.getTime() - start) / 86_400_000) + 1).padStart(3, '0');
      }
      case 'Monday':
        return DAYS[date.getUTCDay()] ?? '';
      case 'Mon':
        return (DAYS[date.getUTCDay()] ?? '').slice(0, 3);
      case '15':
        return two(date.getUTCHours());
      case '03':
        return two(hour12);
      case '3':
        return String(hour12);
      case '04':
        return two(date.getUTCMinutes());
      case '4':
        return String(date.getUTCMinutes());
      case '05':
        return two(date.getUTCSeconds());
      case '5':
        return String(date.getUTCSeconds());
      case 'PM':
        return date.getUTCHours() < 12 ? 'AM' : 'PM';
      case 'pm':
        return date.getUTCHours() < 12 ? 'am' : 'pm';
      case 'MST':
        return 'UTC';
      case '-07':
        return '+00';
      case '-07:00':
        return '+00:00';
      case '-07:00:00':
        return '+00:00:00';
      case '-0700':
        return '+0000';
      default:
        return 'Z';
    }
  });
}
