// printf of templates: the verbs of the recorded system's language that make sense for its values.
import { formatFloatPlain, quote } from '../lambda/text.ts';
import type { TemplateValue } from './value.ts';
import { printValue, TemplateDuration, typeName } from './value.ts';

const VERB = /%([-+# 0]*)(\d+)?(?:\.(\d*))?(.)/gsu;

/** Widest field and longest precision; a format that asks for more says so in its place. */
const FIELD_LENGTH_MAX = 1_000_000;

/** Characters that the fields of one format may be filled to in all. */
const FILLED_LENGTH_MAX = 4 * 1024 * 1024;

type Spec = { readonly flags: string; readonly precision: number | undefined };

/** Formats; what does not fit shows up in the text (`%!d(string=x)`), it never fails. */
export function printf(format: string, args: readonly TemplateValue[]): string {
  let next = 0;
  let filled = 0;
  let out = format.replace(
    VERB,
    (_, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%';
      if (next >= args.length) return `%!${verb}(MISSING)`;
      const value = args[next++];
      const spec = { flags, precision: precision === undefined ? undefined : Number(precision) };
      const length = Number(width ?? 0);
      if ((spec.precision ?? 0) > FIELD_LENGTH_MAX) return `%!${verb}(BADPREC)`;
      if (length > FIELD_LENGTH_MAX) return `%!${verb}(BADWIDTH)`;
      filled += length + (spec.precision ?? 0);
      if (filled > FILLED_LENGTH_MAX) return `%!${verb}(BADWIDTH)`;
      const text = formatVerb(verb, value, spec) ?? mismatch(verb, value);
      return pad(text, length, { flags, isNumber: isNumeric(value) });
    },
  );
  if (next < args.length) {
    const extra = args.slice(next).map((arg) => `${typeName(arg)}=${printValue(arg)}`);
    out += `%!(EXTRA ${extra.join(', ')})`;
  }
  return out;
}

function mismatch(verb: string, value: TemplateValue): string {
  return value === undefined || value === null
    ? `%!${verb}(<nil>)`
    : `%!${verb}(${typeName(value)}=${printValue(value)})`;
}

const isNumeric = (value: TemplateValue): boolean =>
  typeof value === 'number' || typeof value === 'bigint';

function pad(text: string, width: number, how: { flags: string; isNumber: boolean }): string {
  const length = [...text].length;
  if (length >= width) return text;
  const fill = width - length;
  if (how.flags.includes('-')) return text + ' '.repeat(fill);
  if (how.flags.includes('0') && how.isNumber) {
    const sign = /^[+-]/.exec(text)?.[0] ?? '';
    return sign + '0'.repeat(fill) + text.slice(sign.length);
  }
  return ' '.repeat(fill) + text;
}

function formatVerb(verb: string, value: TemplateValue, spec: Spec): string | undefined {
  switch (verb) {
    case 'v':
      return value === undefined ? '<nil>' : signed(printValue(value), value, spec);
    case 's':
      if (typeof value === 'object' && value !== null) return printValue(value);
      return typeof value === 'string' ? cut(value, spec) : undefined;
    case 'q':
      return typeof value === 'string' ? quote(cut(value, spec)) : undefined;
    case 't':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'T':
      return typeName(value);
    case 'd':
    case 'b':
    case 'o':
    case 'x':
    case 'X':
    case 'c':
      return formatInteger(verb, value, spec);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return typeof value === 'number' ? formatFloat(verb, value, spec) : undefined;
    default:
      return undefined;
  }
}

function cut(text: string, spec: Spec): string {
  return spec.precision === undefined ? text : [...text].slice(0, spec.precision).join('');
}

function signed(text: string, value: TemplateValue, spec: Spec): string {
  if (!isNumeric(value) || /^[+-]/.test(text)) return text;
  if (spec.flags.includes('+')) return `+${text}`;
  return spec.flags.includes(' ') ? ` ${text}` : text;
}

const RADIX: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, x: 16, X: 16 };

function formatInteger(verb: string, value: TemplateValue, spec: Spec): string | undefined {
  if (typeof value === 'string' && (verb === 'x' || verb === 'X')) {
    const hex = [...new TextEncoder().encode(value)].map((b) => b.toString(16).padStart(2, '0'));
    return verb === 'X' ? hex.join('').toUpperCase() : hex.join('');
  }
  const integer = value instanceof TemplateDuration ? value.nanos : value;
  if (typeof integer !== 'bigint') return undefined;
  if (verb === 'c') return characterOf(integer);
  const magnitude = integer < 0n ? -integer : integer;
  let digits = magnitude.toString(RADIX[verb] ?? 10);
  if (verb === 'X') digits = digits.toUpperCase();
  if (spec.precision !== undefined) digits = digits.padStart(spec.precision, '0');
  return signed(integer < 0n ? `-${digits}` : digits, integer, spec);
}

/** The character of a code point; the replacement character when there is none. */
function characterOf(code: bigint): string {
  const isSurrogate = code >= 0xd800n && code <= 0xdfffn;
  return code < 0n || code > 0x10ffffn || isSurrogate
    ? '\uFFFD'
    : String.fromCodePoint(Number(code));
}

function formatFloat(verb: string, value: number, spec: Spec): string {
  if (!Number.isFinite(value)) return signed(formatFloatPlain(value), value, spec);
  const precision = spec.precision ?? 6;
  switch (verb) {
    case 'f':
    case 'F':
      return signed(value.toFixed(Math.min(precision, 100)), value, spec);
    case 'e':
    case 'E': {
      const text = exponent(value.toExponential(Math.min(precision, 100)));
      return signed(verb === 'E' ? text.toUpperCase() : text, value, spec);
    }
    default: {
      const text =
        spec.precision === undefined ? printValue(value) : general(value, spec.precision);
      return signed(verb === 'G' ? text.toUpperCase() : text, value, spec);
    }
  }
}

/** At least two digits of exponent. */
function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

function general(value: number, precision: number): string {
  const digits = Math.max(1, Math.min(precision, 100));
  const power = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1]);
  if (power < -4 || power >= digits) {
    return exponent(value.toExponential(digits - 1).replace(/\.?0+e/, 'e'));
  }
  const text = value.toFixed(Math.min(digits - 1 - power, 100));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
