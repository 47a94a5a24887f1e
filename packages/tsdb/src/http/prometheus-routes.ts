// POST /api/v1/prom/write and read: Prometheus's remote storage. Bodies are snappy over protobuf.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import type { Holder } from '@tidemark/core';
import type { WriteOutcome } from '@tidemark/storage-api';
import { uncompressSync } from 'snappy';

import { requireRight } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import { DATABASE_REQUIRED } from '../compat/messages.ts';
import { readReadRequest, readResponse } from '../prometheus/messages.ts';
import type { EncodedSeries } from '../prometheus/messages.ts';
import { portionsOf } from '../prometheus/points.ts';
import { runRemoteQueries } from '../prometheus/read.ts';
import { snappyBlock } from '../prometheus/snappy-block.ts';
import { driverOf } from '../statements/context.ts';
import { onSnapshot } from '../statements/on-snapshot.ts';
import { BodyTooLarge, readProgress, sendEmpty, sendError } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';
import { describeProblem, sourceOf } from './write-route.ts';

export async function handlePrometheusWrite(
  exchange: Exchange,
  { bodies, counters, rejected, statements }: HttpParts,
  identity: Identity,
): Promise<void> {
  const { clock, writer } = statements;
  const database = requireDatabaseName(exchange);
  writer.requireDatabase(database);
  requireRight(identity, 'write', database);
  counters.promWriteReq++;
  const body = await readSnappy(exchange, { bodies, counters });
  const target = { database, retentionPolicy: exchange.parameters.get('rp') };
  let refused: WriteOutcome['dropped'];
  let written = 0;
  for (const { points, dropped } of portionsOf(body)) {
    counters.pointsWrittenDropped += dropped;
    if (points.length === 0) continue;
    const outcome = await writer.writePoints(target, points);
    written += outcome.pointsWritten;
    counters.pointsWrittenOK += outcome.pointsWritten;
    counters.valuesWrittenOK += outcome.valuesWritten;
    if (outcome.dropped === undefined) continue;
    const { count, reason } = outcome.dropped;
    counters.pointsWrittenDropped += count;
    refused = { count: (refused?.count ?? 0) + count, reason: refused?.reason ?? reason };
  }
  const problem = describeProblem({ pointsWritten: written, dropped: refused, parseErrors: [] });
  if (problem === undefined || refused === undefined) return sendEmpty(exchange);
  const place = { time: formatRfc3339(clock.now()), source: sourceOf(exchange), database };
  rejected.add(place, [{ text: '', ...refused }]);
  sendError(exchange, 400, problem);
}

export async function handlePrometheusRead(
  exchange: Exchange,
  { bodies, counters, statements }: HttpParts,
  identity: Identity,
): Promise<void> {
  const { queries, writer } = statements;
  const name = requireDatabaseName(exchange);
  const { database, policy } = writer.resolve({
    database: name,
    retentionPolicy: exchange.parameters.get('rp'),
  });
  requireRight(identity, 'read', name);
  counters.promReadReq++;
  const asked = readReadRequest(await readSnappy(exchange, { bodies, counters }));
  const { response } = exchange;
  const holder: Holder = {
    progress: () => readProgress(response),
    revoke: () => response.destroy(),
  };
  exchange.parts.push(await queries.begin(holder));
  const description = {
    text: () => 'prometheus remote read',
    database: name,
    requires: () => [{ kind: 'read', database: name } as const],
    holder,
  };
  await queries.run(description, async (running) => {
    const onClose = (): void => queries.cancel(running);
    response.once('close', onClose);
    const target = { database: database.name, retentionPolicy: policy.name };
    const { memory, signal } = running;
    const context = { ...target, services: statements, identity, signal, memory, messages: [] };
    let results: readonly (readonly EncodedSeries[])[];
    try {
      const work = onSnapshot(context, (query) => runRemoteQueries(asked, target, query));
      results = await driverOf(statements, () => running).result(work);
    } finally {
      response.off('close', onClose);
    }
    response.setHeader('Content-Type', 'application/x-protobuf');
    response.setHeader('Content-Encoding', 'snappy');
    // The answer counts as memory of the query until the client has read it. It fails only if the
    // client has gone or the query was ended, which has broken the connection by then.
    const { length, parts } = readResponse(results);
    const pieces = Readable.from(snappyBlock(length, parts));
    await pipeline(pieces, response, { signal }).catch(() => undefined);
  });
}

function requireDatabaseName(exchange: Exchange): string {
  const name = exchange.parameters.get('db');
  if (name === '') throw new InvalidRequest(DATABASE_REQUIRED);
  return name;
}

async function readSnappy(
  exchange: Exchange,
  { bodies, counters }: Pick<HttpParts, 'bodies' | 'counters'>,
): Promise<Uint8Array> {
  const limit = bodies.maxBytes;
  // The content encoding is snappy here, which `readBody` does not support.
  delete exchange.request.headers['content-encoding'];
  const body = await readBody(exchange, bodies);
  counters.writeReqBytes += body.length;
  const unpackedBytes = snappyLength(body);
  if (unpackedBytes === undefined) throw new InvalidRequest('snappy: corrupt input');
  if (limit > 0 && unpackedBytes > limit) throw new BodyTooLarge();
  exchange.parts.push(await bodies.budget.take(unpackedBytes));
  try {
    const unpacked = uncompressSync(Buffer.from(body), { asBuffer: true });
    return typeof unpacked === 'string' ? Buffer.from(unpacked) : unpacked;
  } catch (error) {
    throw new InvalidRequest('snappy: corrupt input', { cause: error });
  }
}

/** The length that the block's header declares: a varint of 32 bits. */
function snappyLength(body: Uint8Array): number | undefined {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    const byte = body[i];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length <= 0xffff_ffff ? length : undefined;
  }
  return undefined;
}
