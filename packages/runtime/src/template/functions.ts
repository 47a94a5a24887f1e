// Functions of templates.
import { jsonFloat, jsonString } from '../data/rows.ts';
import { formatRfc3339 } from '@tidemark/core';
import { printf } from './printf.ts';
import type { TemplateValue } from './value.ts';
import {
  isTrue,
  printValue,
  TemplateDuration,
  TemplateMap,
  TemplateStruct,
  TemplateTime,
  typeName,
} from './value.ts';

/** A function failed: the executor adds the place. */
export class TemplateFunctionError extends Error {
  override readonly name = 'TemplateFunctionError';
}

export type TemplateFunction = (...args: TemplateValue[]) => TemplateValue;

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  "'": '&#39;',
  '"': '&#34;',
  '\0': '\uFFFD',
};

const JS_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

/** The argument of escaping functions; unlike for `print`, none is `<no value>`. */
const textOf = (args: readonly TemplateValue[]): string =>
  args.length === 1 && typeof args[0] === 'string'
    ? args[0]
    : print(args.map((arg) => arg ?? '<no value>'));

export function escapeHtml(text: string): string {
  return text.replace(/[<>&'"\0]/g, (c) => HTML_ENTITIES[c] ?? c);
}

function escapeJs(text: string): string {
  return text.replace(/[\\'"<>&=]|[\p{Cc}\u00a0\u2028\u2029]/gu, (c) => {
    const known = JS_ESCAPES[c];
    return known ?? `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

function escapeUrl(text: string): string {
  return encodeURIComponent(wellFormed(text))
    .replaceAll('%20', '+')
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Half a surrogate pair, which UTF-8 cannot represent, becomes the replacement character. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Operands, with a space between two neighbours if neither is a string. */
function print(args: readonly TemplateValue[]): string {
  let out = '';
  args.forEach((arg, i) => {
    if (i > 0 && typeof arg !== 'string' && typeof args[i - 1] !== 'string') out += ' ';
    out += arg === undefined ? '<nil>' : printValue(arg);
  });
  return out;
}

function basicKind(value: TemplateValue): 'int' | 'float' | 'string' | 'bool' | undefined {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    default:
      return value instanceof TemplateDuration ? 'int' : undefined;
  }
}

const basicValue = (value: TemplateValue): string | number | bigint | boolean =>
  value instanceof TemplateDuration ? value.nanos : (value as string | number | bigint | boolean);

function equals(a: TemplateValue, b: TemplateValue): boolean {
  const [kindA, kindB] = [basicKind(a), basicKind(b)];
  if (kindA === undefined || kindB === undefined) {
    if ((a === undefined || a === null) && (b === undefined || b === null)) return true;
    if (a === undefined || b === undefined || a === null || b === null) return false;
    throw new TemplateFunctionError('non-comparable type');
  }
  if (kindA !== kindB) throw new TemplateFunctionError('incompatible types for comparison');
  return basicValue(a) === basicValue(b);
}

function isLess(a: TemplateValue, b: TemplateValue): boolean {
  const [kindA, kindB] = [basicKind(a), basicKind(b)];
  if (kindA === undefined || kindB === undefined || kindA === 'bool') {
    throw new TemplateFunctionError('invalid type for comparison');
  }
  if (kindA !== kindB) throw new TemplateFunctionError('incompatible types for comparison');
  return basicValue(a) < basicValue(b);
}

function index(container: TemplateValue, ...keys: TemplateValue[]): TemplateValue {
  let value = container;
  for (const key of keys) {
    if (value === undefined || value === null)
      throw new TemplateFunctionError('index of untyped nil');
    if (value instanceof TemplateMap) {
      if (typeof key !== 'string') {
        throw new TemplateFunctionError(`value has type ${typeName(key)}; should be string`);
      }
      value = value.entries.has(key) ? value.entries.get(key) : value.zero;
      continue;
    }
    if (typeof value === 'string' || Array.isArray(value)) {
      if (typeof key !== 'bigint') {
        throw new TemplateFunctionError(`cannot index slice/array with type ${typeName(key)}`);
      }
      const i = Number(key);
      if (i < 0 || i >= value.length) throw new TemplateFunctionError(`index out of range: ${key}`);
      value =
        typeof value === 'string'
          ? BigInt(value.charCodeAt(i))
          : (value as readonly TemplateValue[])[i];
      continue;
    }
    throw new TemplateFunctionError(`can't index item of type ${typeName(value)}`);
  }
  return value;
}

function length(value: TemplateValue): bigint {
  if (typeof value === 'string') return BigInt(new TextEncoder().encode(value).length);
  if (value instanceof TemplateMap) return BigInt(value.entries.size);
  if (Array.isArray(value)) return BigInt(value.length);
  throw new TemplateFunctionError(`len of type ${typeName(value)}`);
}

function slice(value: TemplateValue, ...bounds: TemplateValue[]): TemplateValue {
  if (typeof value !== 'string' && !Array.isArray(value)) {
    throw new TemplateFunctionError(`can't slice item of type ${typeName(value)}`);
  }
  const wrong = bounds.find((bound) => typeof bound !== 'bigint');
  if (wrong !== undefined || bounds.includes(undefined)) {
    throw new TemplateFunctionError(`cannot index slice/array with type ${typeName(wrong)}`);
  }
  const [start = 0, end = value.length] = bounds.map(Number);
  if (start < 0 || start > end || end > value.length) {
    throw new TemplateFunctionError(`index out of range: ${end}`);
  }
  return value.slice(start, end) as TemplateValue;
}

/** JSON with sorted keys of maps and the field order of records. */
export function templateJson(value: TemplateValue): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'number':
      return jsonFloat(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
    default:
      return compositeJson(value);
  }
}

function compositeJson(
  value: Exclude<TemplateValue, string | number | bigint | boolean | undefined>,
): string {
  if (value === null) return 'null';
  if (value instanceof TemplateTime) return `"${formatRfc3339(value.nanos)}"`;
  if (value instanceof TemplateDuration) return String(value.nanos);
  if (value instanceof TemplateMap && value.isNil) return 'null';
  if (value instanceof TemplateMap || value instanceof TemplateStruct) {
    const entries = value instanceof TemplateMap ? value.entries : value.fields;
    let json = '';
    for (const [key, each] of entries) {
      json += `${json === '' ? '' : ','}${jsonString(key)}:${templateJson(each)}`;
    }
    return `{${json}}`;
  }
  return `[${(value as readonly TemplateValue[]).map(templateJson).join(',')}]`;
}

/** Functions that every template has. The executor implements `and`, `or` and `call`. */
export const BUILTINS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['and', (...args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1)],
  ['or', (...args) => args.find(isTrue) ?? args.at(-1)],
  ['not', (value) => !isTrue(value)],
  ['eq', (a, ...others) => others.some((b) => equals(a, b))],
  ['ne', (a, b) => !equals(a, b)],
  ['lt', (a, b) => isLess(a, b)],
  ['le', (a, b) => isLess(a, b) || equals(a, b)],
  ['gt', (a, b) => !isLess(a, b) && !equals(a, b)],
  ['ge', (a, b) => !isLess(a, b)],
  ['index', index],
  ['len', length],
  ['slice', slice],
  ['print', (...args) => print(args)],
  ['println', (...args) => `${args.map((arg) => printValue(arg)).join(' ')}\n`],
  [
    'printf',
    (format, ...args) => {
      if (typeof format !== 'string') {
        throw new TemplateFunctionError(
          `wrong type for value; expected string; got ${typeName(format)}`,
        );
      }
      return printf(format, args);
    },
  ],
  ['html', (...args) => escapeHtml(textOf(args))],
  ['js', (...args) => escapeJs(textOf(args))],
  ['urlquery', (...args) => escapeUrl(textOf(args))],
  [
    'call',
    (callee) => {
      throw new TemplateFunctionError(`non-function of type ${typeName(callee)}`);
    },
  ],
]);

/** Functions of details and of alert templates. */
export const JSON_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<
  string,
  TemplateFunction
>([
  ['json', (value) => `${templateJson(value)}\n`],
  ['jsonCompact', (value) => templateJson(value)],
]);
