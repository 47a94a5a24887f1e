// JSON of the API: integers keep all their digits in both directions.
import { checkJsonDepth, InvalidRequest, messageOf } from '@tidemark/core';
import { isInteger, parse, stringify } from 'lossless-json';
import type { NumberParser } from 'lossless-json';

/**
 * Reads JSON; integers beyond 2^53 become `bigint`, other numbers stay numbers. Throws
 * `InvalidRequest`.
 */
export function parseJson(body: Uint8Array, prefix: string): unknown {
  const text = Buffer.from(body).toString('utf8');
  if (text.trim() === '') throw new InvalidRequest(`${prefix}unexpected end of JSON input`);
  checkJsonDepth(text, prefix);
  try {
    return parse(text, null, readNumber);
  } catch (cause) {
    throw new InvalidRequest(`${prefix}${reasonOf(cause, text)}`, { cause });
  }
}

const readNumber: NumberParser = (text) => {
  const number = Number(text);
  return isInteger(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
};

function reasonOf(cause: unknown, text: string): string {
  const message = messageOf(cause);
  return /end of|end of input/i.test(message) || text.trim() === '{' ? 'unexpected EOF' : message;
}

/** Prints JSON; `bigint` as an integer. */
export function printJson(value: unknown): string {
  return stringify(value) ?? 'null';
}

/** An object, or `InvalidRequest` with the given text. */
export function asObject(value: unknown, message: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidRequest(message);
  }
  return value as Readonly<Record<string, unknown>>;
}
