// Vars as JSON, in and out.
import { parseDuration } from '@tidemark/tickscript';
import { MAX_INT64, MIN_INT64, unreachable } from '@tidemark/core';
import { isVarType } from './evaluate/var-values.ts';
import type { GivenVarType, Var, Vars, VarValue } from './vars.ts';

/** `error` names the var and its allowed values. */
export type VarsResult =
  | { readonly vars: Vars; readonly error?: undefined }
  | { readonly error: string; readonly vars?: undefined };

/** Thrown inside this file only. */
class VarFailure extends Error {
  override readonly name = 'VarFailure';
}

/**
 * Reads the `vars` object of a request. Integers may be `bigint`, as a lossless JSON parser returns
 * them, or `number`. Texts of lambdas and regular expressions are checked when the script is
 * evaluated.
 */
export function parseVars(json: unknown): VarsResult {
  if (json === undefined || json === null) return { vars: new Map() };
  if (!isRecord(json)) return { error: 'vars must be an object of vars by their names' };
  const vars = new Map<string, Var>();
  try {
    for (const [name, value] of Object.entries(json)) vars.set(name, parseVar(name, value));
  } catch (error) {
    // Everything else is a bug and is rethrown.
    if (!(error instanceof VarFailure)) throw error;
    return { error: error.message };
  }
  return { vars };
}

function parseVar(name: string, json: unknown): Var {
  const refuse = (what: string): never => {
    throw new VarFailure(`invalid var ${name}: ${what}`);
  };
  if (!isRecord(json)) return refuse('it must be an object with type and value');
  const { type, value = null, description = '' } = json;
  if (typeof description !== 'string') return refuse('its description must be text');
  if (typeof type !== 'string' || !isGivenType(type)) {
    const types = [...VAR_TYPES.keys()].join(', ');
    const given = type === undefined || type === '' ? '' : `, not ${shown(type)}`;
    return refuse(`its type must be one of ${types}${given}`);
  }
  const parsed = parseValue(type, value);
  if (parsed !== undefined) return { type, value: parsed, description };
  return refuse(`its value must be ${VAR_TYPES.get(type)}, not ${shown(value)}`);
}

function isGivenType(name: string): name is GivenVarType {
  return name === 'secret' || isVarType(name);
}

/** The allowed values of each type. */
const VAR_TYPES: ReadonlyMap<GivenVarType, string> = new Map([
  ['bool', 'true or false'],
  ['int', 'an integer of 64 bits'],
  ['float', 'a number'],
  ['duration', 'text such as "10s", or an integer of nanoseconds'],
  ['string', 'text'],
  ['secret', 'text'],
  ['regex', 'text'],
  ['lambda', 'text'],
  ['star', 'empty text'],
  ['list', 'a list of objects {"type": "string", "value": …} or {"type": "star", "value": ""}'],
]);

const SHOWN_CHARS = 100;

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, SHOWN_CHARS))
    : String(value).slice(0, SHOWN_CHARS);
}

/** `undefined` for a value of another type. */
function parseValue(type: GivenVarType, value: unknown): VarValue | undefined {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? { kind: 'boolean', value } : undefined;
    case 'int': {
      const integer = integerOfJson(value);
      return integer === undefined ? undefined : { kind: 'integer', value: integer };
    }
    case 'float':
      if (typeof value === 'bigint') return { kind: 'float', value: Number(value) };
      return typeof value === 'number' ? { kind: 'float', value } : undefined;
    case 'string':
    case 'secret':
      return typeof value === 'string' ? { kind: type, value } : undefined;
    case 'regex':
      return typeof value === 'string' ? { kind: 'regex', pattern: value } : undefined;
    case 'lambda':
      return typeof value === 'string' ? { kind: 'lambda', text: value } : undefined;
    case 'duration': {
      const nanos = nanosOfJson(value);
      return nanos === undefined ? undefined : { kind: 'duration', nanos };
    }
    case 'star':
      return value === null || value === '' ? { kind: 'star' } : undefined;
    case 'list':
      return Array.isArray(value) ? parseList(value) : undefined;
    default:
      return unreachable(type);
  }
}

/** Lists hold strings and stars only. */
function parseList(list: readonly unknown[]): VarValue | undefined {
  const items: Extract<VarValue, { kind: 'string' | 'star' }>[] = [];
  for (const each of list) {
    const type = isRecord(each) ? each['type'] : undefined;
    const value = isRecord(each) ? each['value'] : undefined;
    if (type === 'star') items.push({ kind: 'star' });
    else if (type === 'string' && typeof value === 'string') items.push({ kind: 'string', value });
    else return undefined;
  }
  return { kind: 'list', items };
}

/** An integer of JSON, `number` or `bigint`, that fits 64 bits. */
export function integerOfJson(value: unknown): bigint | undefined {
  const isInteger =
    typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  const integer = isInteger ? BigInt(value) : undefined;
  if (integer === undefined || integer < MIN_INT64 || integer > MAX_INT64) return undefined;
  return integer;
}

/** Nanoseconds or text such as `1m30s`. */
export function nanosOfJson(value: unknown): bigint | undefined {
  return typeof value === 'string' ? parseDuration(value) : integerOfJson(value);
}

/** A JSON object. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * `value` of a var in JSON. Integers beyond 2^53 are `bigint` and need a printer that writes them.
 */
export type JsonVarValue = null | boolean | number | bigint | string | readonly JsonVar[];
export type JsonVar = {
  readonly type: string;
  readonly value: JsonVarValue;
  readonly description: string;
};

/** Vars as they are stored, secrets included, sorted by name. */
export function printVars(vars: Vars): { readonly [name: string]: JsonVar } {
  const names = [...vars.keys()].sort();
  const entries = names.map((name) => [name, printVar(vars.get(name))] as const);
  return Object.fromEntries(entries);
}

function printVar(each: Var | undefined): JsonVar {
  const { type = 'string', value, description = '' } = each ?? {};
  return { type, value: value === undefined ? null : printValue(value), description };
}

function printValue(value: VarValue): JsonVarValue {
  switch (value.kind) {
    case 'boolean':
    case 'float':
    case 'string':
    case 'secret':
      return value.value;
    case 'integer':
      return printInteger(value.value);
    case 'duration':
      return printInteger(value.nanos);
    case 'regex':
      return value.pattern;
    case 'lambda':
      return value.text;
    case 'star':
      return '';
    case 'list':
      return value.items.map((item) => ({
        type: item.kind,
        value: item.kind === 'string' ? item.value : '',
        description: '',
      }));
    default:
      return unreachable(value);
  }
}

/** `number` where it is exact. */
export function printInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) || BigInt(number) === value ? number : value;
}
