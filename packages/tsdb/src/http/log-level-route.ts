// /debug/loglevel: changes the log level while the service runs.
import { InvalidRequest, messageOf, own } from '@tidemark/core';

import { sendEmpty } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';

/** Names in requests, as in the task engine, and the logger's names for them. */
const LEVELS: Readonly<Record<string, string>> = {
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  off: 'silent',
};

/** `{"level": "debug"}`: applies until the service stops. */
export async function handleLogLevel(
  exchange: Exchange,
  { audit, bodies, setLogLevel }: HttpParts,
): Promise<void> {
  const body = await readBody(exchange, bodies);
  const level = parseLevel(Buffer.from(body).toString('utf8'));
  // Logged before the change, so that disabling the log is its last entry.
  audit.done(exchange, 'log level', { level });
  setLogLevel(level);
  sendEmpty(exchange);
}

function parseLevel(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`invalid json: ${reason}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidRequest('invalid json: expected an object');
  }
  const name = String('level' in value ? value.level : '').toLowerCase();
  const level = own(LEVELS, name);
  if (level === undefined) throw new InvalidRequest('invalid log level');
  return level;
}
