// /api/backup sends the bytes of a backup. /api/restore receives a backup in pieces that each fit a
// request.
import { once } from 'node:events';

import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { ALL_TIME, Corruption, InvalidRequest } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { HeapWatch } from '@tidemark/process';
import { encodeFailure } from '@tidemark/storage';

import type { BackupOptions } from '../backup/backup-service.ts';
import { LIMITS } from '../limits.ts';
import { sendEmpty, sendJson, shownMessage } from './answer.ts';
import { readBody } from './body.ts';
import { parseTime } from './json-body.ts';
import { goneSignal } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';

/** The name of an uploaded backup in errors. */
const UPLOADED = 'backup';

const BackupBody = Type.Object(
  {
    databases: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    start: Type.Optional(Type.String()),
    end: Type.Optional(Type.String()),
    since: Type.Optional(
      Type.Object({ storageId: Type.String(), segments: Type.Array(Type.String()) }),
    ),
  },
  { additionalProperties: false },
);
type BackupBody = Static<typeof BackupBody>;

/** Portions are garbage once they are sent. */
const heap = new HeapWatch(64 << 20);

/** `{"databases", "start", "end", "since"}`, all optional. Streams; a failure ends the stream. */
export async function handleBackup(
  exchange: Exchange,
  { audit, backups, bodies, log }: HttpParts,
): Promise<void> {
  const { response } = exchange;
  const body = await readBody(exchange, bodies);
  const options = backupOptions(Buffer.from(body).toString('utf8'));
  audit.done(exchange, 'backup', { databases: options.databases?.join(', ') ?? 'all' });
  const gone = goneSignal(exchange);
  // A client that stops reading would pin segments forever.
  response.setTimeout(LIMITS.backupIdleMs.value, () => response.destroy());
  const portions = backups.create(options);
  try {
    // Refusals happen before the first byte, with a status.
    let step = await portions.next();
    response.statusCode = 200;
    response.setHeader('Content-Type', 'application/octet-stream');
    for (; step.done !== true; step = await portions.next()) {
      heap.made(step.value.length);
      if (!response.write(step.value)) await once(response, 'drain', { signal: gone });
      if (gone.aborted) return;
    }
    response.end();
  } catch (error) {
    if (gone.aborted) return;
    if (!response.headersSent) throw error;
    log.error({ err: error }, 'backup failed');
    response.end(encodeFailure(shownMessage(error)));
  } finally {
    await portions.return(undefined);
  }
}

/**
 * POST begins (`database`, `as`) and answers an id; PUT with `id` sends a piece; POST with `id`
 * finishes and answers what was restored; DELETE with `id` abandons.
 */
export async function handleRestore(exchange: Exchange, parts: HttpParts): Promise<void> {
  try {
    await restoreStep(exchange, parts);
  } catch (error) {
    // Damage in an upload is not damage of the server.
    if (!(error instanceof Corruption) || error.file !== UPLOADED) throw error;
    throw new InvalidRequest(error.message, { cause: error });
  }
}

async function restoreStep(
  exchange: Exchange,
  { audit, backups, bodies, config }: HttpParts,
): Promise<void> {
  const { parameters } = exchange;
  const id = parameters.get('id');
  switch (exchange.method) {
    case 'PUT': {
      const piece = await readBody(exchange, bodies);
      await backups.writeRestore(id, piece);
      return sendEmpty(exchange);
    }
    case 'DELETE':
      await backups.abandonRestore(id);
      audit.done(exchange, 'restore', { step: 'abandoned' });
      return sendEmpty(exchange);
    default: {
      if (id !== '') {
        const outcome = await backups.finishRestore(id);
        audit.done(exchange, 'restore', {
          step: 'finished',
          databases: outcome.databases.join(', '),
        });
        return sendJson(exchange, 200, outcome);
      }
      const database = parameters.get('database');
      const as = parameters.get('as');
      const options = {
        database: database === '' ? undefined : database,
        as: as === '' ? undefined : as,
        // May exist already, and then stays as it is.
        optional: config.monitor.storeDatabase,
      };
      const opened = backups.openRestore(options);
      audit.done(exchange, 'restore', { step: 'begun', databases: database || 'all', as });
      return sendJson(exchange, 201, { id: opened });
    }
  }
}

function backupOptions(text: string): BackupOptions {
  const { databases, since, start, end } = parseBody(text);
  return { databases, since, timeRange: timeRange(start, end) };
}

function parseBody(text: string): BackupBody {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(BackupBody, value)) return value;
  } catch {
    // Not JSON: the same message as for another structure.
  }
  throw new InvalidRequest(
    'the body must be JSON: {"databases": [names], "start": time, "end": time, "since": {"storageId", "segments"}}',
  );
}

function timeRange(start: string | undefined, end: string | undefined): TimeRange | undefined {
  if (start === undefined && end === undefined) return undefined;
  const range = {
    start: start === undefined ? ALL_TIME.start : parseTime(start, 'start'),
    end: end === undefined ? ALL_TIME.end : parseTime(end, 'end'),
  };
  if (range.start > range.end) throw new InvalidRequest('start is after end');
  return range;
}
