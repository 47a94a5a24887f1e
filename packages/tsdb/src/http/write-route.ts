// POST /write and its relatives: line protocol in, 204 or a reason out.
import { formatRfc3339, InvalidRequest, own } from '@tidemark/core';
import type { Precision } from '@tidemark/core';
import { parsePrecision, unknownPrecision } from '@tidemark/line-protocol';
import type { WriteOutcome } from '@tidemark/storage-api';

import { requireRight } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import {
  DATABASE_REQUIRED,
  INVALID_CONSISTENCY,
  partialWrite,
  TYPE_CONFLICT,
} from '../compat/messages.ts';
import { DatabaseMissing } from '../write/policy-ref.ts';
import { precisionDoubt, precisionFinding } from '../write/precision-doubt.ts';
import { sendEmpty, sendError } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';

const CONSISTENCY_LEVELS = new Set(['', 'any', 'one', 'quorum', 'all']);

type WriteRequest = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: Precision;
};

/** POST /write. */
export async function handleWrite(
  exchange: Exchange,
  parts: HttpParts,
  identity: Identity,
): Promise<void> {
  const { parameters } = exchange;
  const database = parameters.get('db');
  if (database === '') throw new InvalidRequest(DATABASE_REQUIRED);
  const precision = precisionOf(parameters.get('precision'), parts.config.http.strictPrecision);
  await writeBody(exchange, parts, {
    identity,
    request: { database, retentionPolicy: parameters.get('rp'), precision },
  });
}

/**
 * Unknown units are refused, unless `http.strict-precision` treats them as nanoseconds, as in
 * versions before 1.7.
 */
function precisionOf(text: string, isStrict: boolean): Precision {
  const precision = parsePrecision(text);
  if (precision !== undefined) return precision;
  if (!isStrict) return 'ns';
  throw new InvalidRequest(unknownPrecision(text));
}

const V2_PRECISIONS: Readonly<Record<string, Precision>> = {
  '': 'ns',
  ns: 'ns',
  us: 'u',
  ms: 'ms',
  s: 's',
};

/** POST /api/v2/write: the same with `bucket=db/rp`. */
export async function handleWriteV2(
  exchange: Exchange,
  parts: HttpParts,
  identity: Identity,
): Promise<void> {
  const { parameters } = exchange;
  const { database, retentionPolicy } = parseBucket(parameters.get('bucket'));
  const text = parameters.get('precision');
  const precision = own(V2_PRECISIONS, text);
  if (precision === undefined) {
    throw new InvalidRequest(`invalid precision "${text}" (use ns, us, ms or s)`);
  }
  const request = { database, retentionPolicy, precision };
  await writeBody(exchange, parts, { identity, request });
}

/** `db/rp`, or `db` for the default policy. */
function parseBucket(bucket: string): { database: string; retentionPolicy: string } {
  const slash = bucket.indexOf('/');
  const database = slash < 0 ? bucket : bucket.slice(0, slash);
  if (database === '') {
    throw new DatabaseMissing(
      `bucket name ${JSON.stringify(bucket)} is missing a slash; not in "database/retention-policy" format`,
    );
  }
  return { database, retentionPolicy: slash < 0 ? '' : bucket.slice(slash + 1) };
}

/** `notify=false`: subscribers do not get these points, for example when history is imported. */
function isNotifying(text: string): boolean {
  if (text !== '' && text !== 'true' && text !== 'false')
    throw new InvalidRequest(`invalid notify "${text}" (use true or false)`);
  return text !== 'false';
}

async function writeBody(
  exchange: Exchange,
  parts: HttpParts,
  write: { readonly identity: Identity; readonly request: WriteRequest },
): Promise<void> {
  const { parameters } = exchange;
  const { request, identity } = write;
  const { bodies, counters, precisionDoubts } = parts;
  const { writer } = parts.statements;
  writer.requireDatabase(request.database);
  requireRight(identity, 'write', request.database);
  const body = await readBody(exchange, bodies, (sizeBytes) => writer.bodyBuffer(sizeBytes));
  counters.writeReqBytes += body.length;
  if (!CONSISTENCY_LEVELS.has(parameters.get('consistency').toLowerCase())) {
    throw new InvalidRequest(INVALID_CONSISTENCY);
  }
  if (body.length === 0) return sendEmpty(exchange);
  const isNews = isNotifying(parameters.get('notify'));
  const isDetailed = parameters.get('errors') === 'detailed';
  // Checked before the body is transferred to storage.
  const doubt = request.precision === 'ns' ? precisionDoubt(body) : undefined;
  const outcome = await writer.writeLines({
    target: request,
    body,
    precision: request.precision,
    isDetailed: true,
    isNews,
  });
  counters.pointsWrittenOK += outcome.pointsWritten;
  counters.valuesWrittenOK += outcome.valuesWritten;
  if (doubt !== undefined) {
    precisionDoubts.note(request.database, doubt);
    exchange.response.setHeader('X-Tsdb-Diagnostics', precisionFinding(doubt));
  }
  const problem = describeProblem(outcome);
  if (problem === undefined) return sendEmpty(exchange);
  counters.pointsWrittenDropped += outcome.dropped?.count ?? 0;
  counters.linesRejected += outcome.parseErrors.length + (outcome.unlistedCount ?? 0);
  noteRejected(exchange, parts, { database: request.database, outcome });
  sendError(exchange, 400, problem, isDetailed ? details(outcome) : undefined);
}

/** The error text of a write that was not fully accepted; `undefined` when it was. */
export function describeProblem(
  outcome: Pick<WriteOutcome, 'dropped' | 'parseErrors' | 'pointsWritten'>,
): string | undefined {
  const { dropped, parseErrors, pointsWritten } = outcome;
  if (dropped !== undefined && dropped.count > 0) {
    // If nothing was written, the write was not partial: the reason is the whole text.
    const isAlone = pointsWritten === 0 && parseErrors.length === 0;
    if (isAlone && dropped.reason.startsWith(TYPE_CONFLICT)) return dropped.reason;
    return partialWrite(dropped.reason, dropped.count);
  }
  if (parseErrors.length === 0) return undefined;
  const messages = parseErrors.join('\n');
  return pointsWritten === 0 ? messages : partialWrite(messages, 0);
}

function details(outcome: WriteOutcome): Readonly<Record<string, unknown>> {
  return {
    written: outcome.pointsWritten,
    // The list is bounded; the number of further lines is reported.
    ...(outcome.unlistedCount === undefined ? {} : { unlisted: outcome.unlistedCount }),
    rejected: (outcome.rejectedLines ?? []).map(({ lineNumber, text, reason }) => ({
      line: lineNumber,
      text,
      reason,
    })),
  };
}

function noteRejected(
  exchange: Exchange,
  { rejected, statements: { clock } }: HttpParts,
  write: { readonly database: string; readonly outcome: WriteOutcome },
): void {
  const place = {
    time: formatRfc3339(clock.now()),
    source: sourceOf(exchange),
    database: write.database,
  };
  const { rejectedLines = [], unlistedCount } = write.outcome;
  const rest = { text: '', reason: 'not listed: too many in one request', count: unlistedCount };
  rejected.add(place, unlistedCount === undefined ? rejectedLines : [...rejectedLines, rest]);
}

/** The sender of a request, for the log of rejected lines. */
export function sourceOf({ userName, remoteAddress }: Exchange): string {
  return userName === '' ? remoteAddress : `${userName}@${remoteAddress}`;
}
