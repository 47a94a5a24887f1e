// /api/continuous-queries/run: a continuous query over a past range; the response reports progress.
import { once } from 'node:events';

import { AppError, Cancelled, formatRfc3339, InvalidRequest, parseRfc3339 } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { Logger } from 'pino';

import { planRun, runPlan } from '../continuous/run-range.ts';
import type { PlannedRun } from '../continuous/run-range.ts';
import type { AuditLog } from '../log/audit-log.ts';
import type { StatementServices } from '../statements/context.ts';
import type { BodyLimits } from './body.ts';
import type { Exchange } from './exchange.ts';
import { readJsonFields } from './json-body.ts';

/**
 * `{"database", "name", "start", "end"}`. The answer has one JSON document per line: one per step,
 * then the total.
 */
export async function handleContinuousRun(
  exchange: Exchange,
  {
    audit,
    bodies,
    log,
    statements: services,
  }: {
    readonly audit: AuditLog;
    readonly bodies: BodyLimits;
    readonly log: Logger;
    readonly statements: StatementServices;
  },
): Promise<void> {
  const request = checkRequest(
    await readJsonFields(exchange, bodies, '{"database", "name", "start", "end"}'),
  );
  const plan = planRun(request, services);
  const { response } = exchange;
  audit.done(exchange, 'continuous query runs over a past range', {
    ...describe(plan),
    name: request.name,
  });
  response.statusCode = 200;
  response.setHeader('Content-Type', 'application/x-ndjson');
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Cancelled('the client closed the connection')));
  const say = async (document: unknown): Promise<void> => {
    if (response.write(`${JSON.stringify(document)}\n`)) return;
    await once(response, 'drain', { signal: gone.signal });
  };
  try {
    let written = 0n;
    // The endpoint is for admins, who may read and write everywhere.
    const context = { services, identity: { kind: 'open' }, signal: gone.signal } as const;
    await say({ ...describe(plan), windows: plan.count });
    for await (const step of runPlan(plan, context)) {
      written += step.written;
      await say({
        ...describe(step),
        written: Number(step.written),
        windowsDone: step.windowsDone,
      });
    }
    response.end(`${JSON.stringify({ done: true, written: Number(written) })}\n`);
  } catch (error) {
    if (gone.signal.aborted) return;
    // The status has been sent: the last line says that the run was not completed.
    log.error({ err: error, query: request.name }, 'continuous query failed');
    const text = error instanceof AppError ? error.message : 'internal error';
    response.end(`${JSON.stringify({ error: text })}\n`);
  }
}

function describe({ start, end }: Pick<PlannedRun, 'start' | 'end'>) {
  return { start: formatRfc3339(start), end: formatRfc3339(end) };
}

function checkRequest(fields: Readonly<Record<string, unknown>>): {
  readonly database: string;
  readonly name: string;
  readonly start: Timestamp;
  readonly end: Timestamp;
} {
  const { database, name, start, end } = fields;
  if (typeof database !== 'string' || typeof name !== 'string') {
    throw new InvalidRequest('database and name must be texts');
  }
  return { database, name, start: parseTime(start, 'start'), end: parseTime(end, 'end') };
}

function parseTime(value: unknown, field: string): Timestamp {
  const time = typeof value === 'string' ? parseRfc3339(value) : undefined;
  if (time === undefined) throw new InvalidRequest(`${field} must be a time as RFC 3339`);
  return time;
}
