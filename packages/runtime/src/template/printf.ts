// printf of templates: Go's verbs that make sense for its values.
import { formatFloatPlain, quote } from '../lambda/text.ts';
import { exponentText, fixedText, significant } from './decimal.ts';
import type { TemplateValue } from './value.ts';
import { printValue, TemplateDuration, TemplateMap, typeName } from './value.ts';

/**
 * Flags, width, precision, which may be `*`, taken from an operand, and the verb; `[n]` selects an
 * operand.
 */
const VERB = /%([-+# 0]*)(?:(\[\d+\])?(\*)|(\d+))?(?:\.(?:(\[\d+\])?(\*)|(\d*)))?(\[\d+\])?(.)?/gsu;

/** Significant digits that an exact double can have. */
const DIGITS_MAX = 800;

/** Widest field and longest precision; a format that exceeds them prints an error in its place. */
const FIELD_LENGTH_MAX = 1_000_000;

/** Total number of characters that the fields of one format may be padded to. */
const FILLED_LENGTH_MAX = 4 * 1024 * 1024;

type Spec = { readonly flags: string; readonly precision: number | undefined };

/** Formats; mistakes appear in the text (`%!d(string=x)`), it never fails. */
export function printf(format: string, args: readonly TemplateValue[]): string {
  const operands = new Operands(args);
  let filled = 0;
  const out = format.replace(VERB, (_, ...parts: (string | undefined)[]) => {
    const [given = '', widthAt, hasWidth, width, precisionAt, hasPrecision, precision, at, verb] =
      parts.slice(0, 9);
    if (verb === undefined) return '%!(NOVERB)';
    let flags = given;
    let complaint = '';
    let length = Number(width ?? 0);
    if (hasWidth !== undefined) {
      const asked = operands.size(widthAt);
      if (asked === undefined) complaint += '%!(BADWIDTH)';
      if (asked !== undefined && asked < 0) flags += '-';
      length = Math.abs(asked ?? 0);
    }
    let wanted = precision === undefined ? undefined : Number(precision);
    if (hasPrecision !== undefined) {
      const asked = operands.size(precisionAt);
      if (asked === undefined) complaint += '%!(BADPREC)';
      wanted = asked === undefined || asked < 0 ? undefined : asked;
    }
    if (verb === '%') return '%';
    const found = operands.take(at);
    if (typeof found === 'string') return `${complaint}%!${verb}(${found})`;
    const spec = { flags, precision: wanted };
    if ((wanted ?? 0) > FIELD_LENGTH_MAX) return `%!${verb}(BADPREC)`;
    if (length > FIELD_LENGTH_MAX) return `%!${verb}(BADWIDTH)`;
    filled += length + (wanted ?? 0);
    if (filled > FILLED_LENGTH_MAX) return `%!${verb}(BADWIDTH)`;
    const { value } = found;
    const text = formatVerb(verb, value, spec) ?? mismatch(verb, value);
    return complaint + pad(text, length, { flags, isNumber: isNumeric(value) });
  });
  return out + operands.extra();
}

/** The operands of a format, taken in turn or by number. */
class Operands {
  readonly #values: readonly TemplateValue[];
  #next = 0;
  #isReordered = false;

  constructor(values: readonly TemplateValue[]) {
    this.#values = values;
  }

  /** The next operand, or the one selected by `[n]`; otherwise why there is none. */
  take(index: string | undefined): { readonly value: TemplateValue } | string {
    if (index !== undefined) {
      this.#isReordered = true;
      const number = Number(index.slice(1, -1));
      if (number < 1 || number > this.#values.length) return 'BADINDEX';
      this.#next = number - 1;
    }
    if (this.#next >= this.#values.length) return 'MISSING';
    return { value: this.#values[this.#next++] };
  }

  /** A width or precision; `undefined` when the operand is invalid. */
  size(index: string | undefined): number | undefined {
    const found = this.take(index);
    if (typeof found === 'string' || typeof found.value !== 'bigint') return undefined;
    const size = Number(found.value);
    return Math.abs(size) <= FIELD_LENGTH_MAX ? size : undefined;
  }

  /** Unused operands. */
  extra(): string {
    const left = this.#isReordered ? [] : this.#values.slice(this.#next);
    const shown = left.map((each) => `${typeName(each)}=${printValue(each)}`);
    return shown.length === 0 ? '' : `%!(EXTRA ${shown.join(', ')})`;
  }
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
      if (value === undefined) return '<nil>';
      if (spec.flags.includes('#')) return sourceText(value);
      return signed(printValue(value), value, spec);
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
    case 'U':
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
  if (verb === 'U') return unicodeText(integer, spec);
  const magnitude = integer < 0n ? -integer : integer;
  let digits = magnitude.toString(RADIX[verb] ?? 10);
  if (verb === 'X') digits = digits.toUpperCase();
  if (spec.precision !== undefined) digits = digits.padStart(spec.precision, '0');
  return signed(integer < 0n ? `-${digits}` : digits, integer, spec);
}

/** `U+0041`, and with `#` the character beside it. */
function unicodeText(code: bigint, spec: Spec): string {
  const digits = BigInt.asUintN(64, code).toString(16).toUpperCase();
  const text = `U+${digits.padStart(Math.max(4, spec.precision ?? 0), '0')}`;
  const isShown = spec.flags.includes('#') && code >= 0n && code <= 0x10ffffn;
  return isShown && /\P{C}/u.test(characterOf(code)) ? `${text} '${characterOf(code)}'` : text;
}

/** `%#v`: a value as Go source. */
function sourceText(value: TemplateValue): string {
  if (typeof value === 'string') return quote(value);
  if (value instanceof TemplateDuration) return String(value.nanos);
  if (value === null || !(value instanceof TemplateMap)) return printValue(value);
  if (value.isNil) return `${typeName(value)}(nil)`;
  const entries = [...value.entries].map(([key, each]) => `${quote(key)}:${sourceText(each)}`);
  return `${typeName(value)}{${entries.join(', ')}}`;
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
      return signed(fixedText(value, precision), value, spec);
    case 'e':
    case 'E': {
      const text = exponentText(value, precision);
      return signed(verb === 'E' ? text.toUpperCase() : text, value, spec);
    }
    default: {
      const text =
        spec.precision === undefined ? printValue(value) : general(value, spec.precision);
      return signed(verb === 'G' ? text.toUpperCase() : text, value, spec);
    }
  }
}

function general(value: number, precision: number): string {
  const digits = Math.max(1, precision);
  const { exponent: power } = significant(Math.abs(value), Math.min(digits, DIGITS_MAX));
  if (power < -4 || power >= digits) {
    return exponentText(value, digits - 1).replace(/(\.\d*?)0*e/, (_, kept: string) =>
      kept === '.' ? 'e' : `${kept}e`,
    );
  }
  const text = fixedText(value, Math.min(digits, DIGITS_MAX) - 1 - power);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
