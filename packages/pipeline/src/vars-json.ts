// Vars as JSON, in and out.
import { parseDuration } from '@tidemark/tickscript';
import { MAX_INT64, MIN_INT64, unreachable } from '@tidemark/core';
import { isVarType } from './evaluate/var-values.ts';
import type { GivenVarType, Var, Vars, VarValue } from './vars.ts';

/** `error` is the recorded text: `invalid JSON` or `invalid var x: …`. */
export type VarsResult =
  | { readonly vars: Vars; readonly error?: undefined }
  | { readonly error: string; readonly vars?: undefined };

/** Thrown inside this file only. */
class VarFailure extends Error {
  override readonly name = 'VarFailure';
}

const INVALID_JSON = 'invalid JSON';

/**
 * Reads the `vars` object of a request. Integers may be `bigint`, as a lossless JSON parser gives
 * them, or `number`. Texts of lambdas and regular expressions are kept and examined when the script
 * is evaluated.
 */
export function parseVars(json: unknown): VarsResult {
  if (json === undefined || json === null) return { vars: new Map() };
  if (!isRecord(json)) return { error: INVALID_JSON };
  const vars = new Map<string, Var>();
  try {
    for (const [name, value] of Object.entries(json)) vars.set(name, parseVar(name, value));
  } catch (error) {
    // Everything else is a bug and goes up.
    if (!(error instanceof VarFailure)) throw error;
    return { error: error.message };
  }
  return { vars };
}

function parseVar(name: string, json: unknown): Var {
  if (!isRecord(json)) throw new VarFailure(INVALID_JSON);
  const { type, value = null, description = '' } = json;
  if (typeof description !== 'string') throw new VarFailure(INVALID_JSON);
  if (type === undefined || type === '') throw unsupported(name, value);
  if (typeof type !== 'string' || !isGivenType(type)) throw new VarFailure(INVALID_JSON);
  if (value === null && type !== 'star') throw unsupported(name, value);
  return { type, value: parseValue(name, type, value), description };
}

function isGivenType(name: string): name is GivenVarType {
  return name === 'secret' || isVarType(name);
}

function unsupported(name: string, value: unknown): VarFailure {
  return new VarFailure(`invalid var ${name}: unsupported Var type ${jsonTypeName(value)}.`);
}

/** Names of JSON types as recorded error texts print them. */
function jsonTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 'json.Number';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return 'map[string]interface {}';
  }
}

function parseValue(name: string, type: Var['type'], value: unknown): VarValue {
  switch (type) {
    case 'bool':
      if (typeof value !== 'boolean') throw new VarFailure(INVALID_JSON);
      return { kind: 'boolean', value };
    case 'int':
      return { kind: 'integer', value: integerOf(value) };
    case 'float':
      if (typeof value === 'bigint') return { kind: 'float', value: Number(value) };
      if (typeof value !== 'number') throw new VarFailure(INVALID_JSON);
      return { kind: 'float', value };
    case 'string':
      return { kind: 'string', value: textOf(value) };
    case 'secret':
      return { kind: 'secret', value: textOf(value) };
    case 'regex':
      return { kind: 'regex', pattern: textOf(value) };
    case 'lambda':
      return { kind: 'lambda', text: textOf(value) };
    case 'duration':
      return { kind: 'duration', nanos: nanosOf(value) };
    case 'star':
      if (value !== null && value !== '') throw new VarFailure(INVALID_JSON);
      return { kind: 'star' };
    case 'list':
      if (!Array.isArray(value)) throw new VarFailure(INVALID_JSON);
      return { kind: 'list', items: value.map((each: unknown) => parseItem(name, each)) };
    default:
      return unreachable(type);
  }
}

/** Lists hold strings and stars only. */
function parseItem(
  name: string,
  json: unknown,
): { readonly kind: 'string'; readonly value: string } | { readonly kind: 'star' } {
  if (!isRecord(json)) throw new VarFailure(INVALID_JSON);
  if (json['type'] === 'star') return { kind: 'star' };
  if (json['type'] === 'string') return { kind: 'string', value: textOf(json['value']) };
  throw unsupported(name, json['value']);
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new VarFailure(INVALID_JSON);
  return value;
}

function integerOf(value: unknown): bigint {
  const integer = integerOfJson(value);
  if (integer === undefined) throw new VarFailure(INVALID_JSON);
  return integer;
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

function nanosOf(value: unknown): bigint {
  const nanos = nanosOfJson(value);
  if (nanos === undefined) throw new VarFailure(INVALID_JSON);
  return nanos;
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
