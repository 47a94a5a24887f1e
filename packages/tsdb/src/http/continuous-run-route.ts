// /api/continuous-queries/run: a continuous query over a past range; the response reports progress.
import { once } from 'node:events';

import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

import { planRun, runPlan } from '../continuous/run-range.ts';
import type { PlannedRun } from '../continuous/run-range.ts';
import { shownMessage } from './answer.ts';
import { goneSignal } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { parseTime, readJsonFields } from './json-body.ts';
import type { HttpParts } from './parts.ts';

/**
 * `{"database", "name", "start", "end"}`. The answer has one JSON document per line: one per step,
 * then the total.
 */
export async function handleContinuousRun(
  exchange: Exchange,
  { audit, bodies, log, statements: services }: HttpParts,
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
  const gone = goneSignal(exchange);
  const say = async (document: unknown): Promise<void> => {
    if (response.write(`${JSON.stringify(document)}\n`)) return;
    await once(response, 'drain', { signal: gone });
  };
  try {
    let written = 0n;
    // The endpoint is for admins, who may read and write everywhere.
    const context = { services, identity: { kind: 'open' }, signal: gone } as const;
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
    if (gone.aborted) return;
    // The status has been sent: the last line says that the run was not completed.
    log.error({ err: error, query: request.name }, 'continuous query failed');
    response.end(`${JSON.stringify({ error: shownMessage(error) })}\n`);
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
