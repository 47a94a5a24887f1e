// POST /api/put on the port of the telnet protocol: node's own HTTP parser on a socket that is open
// already.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { discardBody, receiveBody, unpackedBytes } from '@tidemark/process';
import type { BorderGuard } from '@tidemark/process';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Cancelled, InvalidRequest, LimitExceeded, messageOf, Unavailable } from '@tidemark/core';
import type { Budget, Part } from '@tidemark/core';
import type { PointsOutcome } from './batcher.ts';
import { parsePutJson } from './opentsdb.ts';
import { PUT_BYTES } from './limits.ts';
import type { Intake } from './point-sources.ts';

// A server that never listens: connections are handed to it. Sinks by socket.
const sinks = new WeakMap<Socket, PutSink>();
const server = createServer((request, response) => {
  const sink = sinks.get(request.socket);
  if (sink !== undefined) void answer(request, response, sink); // Never rejects.
});

/** Receives the points of a connection. */
type PutSink = {
  readonly border: BorderGuard;
  readonly intake: Intake;
  /** Memory of all bodies of the process together. */
  readonly bodies: Budget;
  /** Address of the client. */
  readonly sender: string;
};

/** Passes a connection, whose first bytes were read, to the HTTP parser. */
export function answerPut(socket: Socket, first: Buffer, sink: PutSink): void {
  sinks.set(socket, sink);
  server.emit('connection', socket);
  socket.unshift(first);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { border, intake, bodies, sender }: PutSink,
): Promise<void> {
  const end = (status: number, text = ''): void => {
    response.statusCode = status;
    response.end(text);
  };
  const refusal = border.refusal(request);
  if (refusal !== undefined) return end(refusal.status, `${refusal.message}\n`);
  for (const [name, value] of Object.entries(border.corsHeaders(request))) {
    response.setHeader(name, value);
  }
  if (!(request.url ?? '').startsWith('/api/put')) return end(404, 'not found\n');
  if (request.method !== 'POST') return end(405, 'Method Not Allowed\n');
  const parts: Part[] = [];
  try {
    const body = Buffer.from(await readBody(request, { bodies, parts }));
    intake.batcher.counters.bytesRx += body.length;
    const parsed = parsePutJson(body.toString('utf8'));
    if (parsed === undefined) return end(400, 'json object or array expected\n');
    const { points, failed } = parsed;
    const reason = 'a point of a put is wrong';
    if (failed > 0) intake.unreadable(sender, [{ text: '', reason, count: failed }]);
    const outcome = await intake.batcher.write(points);
    if (outcome.kind === 'failed') {
      const isTemporary = outcome.error instanceof Unavailable;
      return end(isTemporary ? 503 : 500, `${messageOf(outcome.error)}\n`);
    }
    const problems = problemsOf(failed, outcome);
    end(problems.length === 0 ? 204 : 400, problems.map((problem) => `${problem}\n`).join(''));
  } catch (error) {
    // A body that is too large or invalid is the client's error.
    end(statusOf(error), error instanceof Error ? `${error.message}\n` : '');
    discardBody(request);
  } finally {
    for (const part of parts) part.release();
  }
}

/** Why points of a body are not stored. */
function problemsOf(
  failed: number,
  outcome: Exclude<PointsOutcome, { kind: 'failed' }>,
): readonly string[] {
  const unreadable = failed === 0 ? [] : [`${failed} points could not be read`];
  if (outcome.kind === 'stored') return unreadable;
  return [...unreadable, `${outcome.count} points were refused: ${outcome.reason}`];
}

function statusOf(error: unknown): number {
  if (error instanceof LimitExceeded) return 413;
  return error instanceof Unavailable ? 503 : 400;
}

const unpack = promisify(gunzip);

/**
 * Memory of a body and its points, as a multiple of the body's size: largest for the smallest
 * points (measured).
 */
const POINT_FACTOR = 10;

/** The decompressed body; its share of the budget, and that of its points, is added to `parts`. */
async function readBody(
  request: IncomingMessage,
  { bodies, parts }: { readonly bodies: Budget; readonly parts: Part[] },
): Promise<Uint8Array> {
  const budget: Pick<Budget, 'take'> = {
    take: (sizeBytes, holder) => bodies.take(sizeBytes * POINT_FACTOR, holder),
  };
  const body = await receiveBody(request, {
    maxBytes: PUT_BYTES.value,
    budget,
    parts,
    tooLarge,
    gone: () => new Cancelled('the client closed the connection'),
  });
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip') throw new InvalidRequest(`content encoding not supported: ${encoding}`);
  parts.push(await budget.take(Math.min(unpackedBytes(body), PUT_BYTES.value)));
  try {
    return await unpack(body, { maxOutputLength: PUT_BYTES.value });
  } catch (cause) {
    const isTooLarge = cause instanceof RangeError;
    if (isTooLarge) throw tooLarge();
    throw new InvalidRequest('invalid gzip body', { cause });
  }
}

function tooLarge(): LimitExceeded {
  const message = `request body is larger than ${PUT_BYTES.value} bytes`;
  return new LimitExceeded(message);
}
