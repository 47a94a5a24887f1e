// /debug/loglevel: changes the log level while the service runs.
import { InvalidRequest, messageOf } from '@tidemark/core';

import type { AuditLog } from '../log/audit-log.ts';
import { sendEmpty } from './answer.ts';
import { readBody } from './body.ts';
import type { BodyLimits } from './body.ts';
import type { Exchange } from './exchange.ts';

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
  {
    audit,
    bodies,
    setLogLevel,
  }: {
    readonly audit: AuditLog;
    readonly bodies: BodyLimits;
    /** Sets the level of the service's log and its children. */
    readonly setLogLevel: (level: string) => void;
  },
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
  const level = Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
  if (level === undefined) throw new InvalidRequest('invalid log level');
  return level;
}
