// Request bodies that are one small JSON object.
import { InvalidRequest, parseRfc3339 } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

import { readBody } from './body.ts';
import type { BodyLimits } from './body.ts';
import type { Exchange } from './exchange.ts';

/**
 * The fields of the body, which the caller has to check; none if it is JSON but no object. Throws
 * `InvalidRequest` with `form`, the expected structure, if it is not JSON.
 */
export async function readJsonFields(
  exchange: Exchange,
  bodies: BodyLimits,
  form: string,
): Promise<Readonly<Record<string, unknown>>> {
  const body = await readBody(exchange, bodies);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch (error) {
    throw new InvalidRequest(`the body must be JSON: ${form}`, { cause: error });
  }
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The time in a field of a body. */
export function parseTime(value: unknown, field: string): Timestamp {
  const time = typeof value === 'string' ? parseRfc3339(value) : undefined;
  if (time === undefined) throw new InvalidRequest(`${field} must be a time as RFC 3339`);
  return time;
}
