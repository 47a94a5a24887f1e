// Sends the pieces of a query's answer as the body: whole with a length, or streamed; compressed if
// the client accepts that and it is worthwhile.
import { once } from 'node:events';
import { constants, createGzip } from 'node:zlib';

import { ANSWER_LEVEL, packAnswer } from '@tidemark/process';
import { releaseBuffer } from '@tidemark/query';
import type { Pulled } from '@tidemark/query';

import { LIMITS } from '../limits.ts';
import { sendBody } from './answer.ts';
import { goneSignal } from './exchange.ts';
import type { Exchange } from './exchange.ts';

type StreamOptions = {
  /** `Content-Type`. */
  readonly type: string;
  readonly isChunked: boolean;
  /** Called with the length of every piece. */
  readonly onPiece: (bytes: number) => void;
};

/**
 * Writes pieces as they come, no faster than the client reads. A single piece has a length. Chunks
 * are sent one by one without waiting for the next; what has only one is whole as well.
 */
export async function streamAnswer(
  pieces: Pulled<Uint8Array>,
  exchange: Exchange,
  { type, isChunked, onPiece }: StreamOptions,
): Promise<void> {
  const { response } = exchange;
  const arrived = (next: IteratorResult<Uint8Array>): IteratorResult<Uint8Array> => {
    if (next.done !== true) onPiece(next.value.length);
    return next;
  };
  /** Resolves when the piece behind the first has come, or failed. */
  let ahead: Promise<unknown> | undefined;
  try {
    const first = arrived(await pieces.next());
    const isGzip = acceptsGzip(exchange);
    if (first.done === true) return await sendWhole(new Uint8Array(0), exchange, { type, isGzip });
    const pulled = pieces.next();
    let second: IteratorResult<Uint8Array> | undefined;
    if (!isChunked || !(pulled instanceof Promise)) {
      second = arrived(await pulled);
      if (second.done === true) return await sendWhole(first.value, exchange, { type, isGzip });
    }
    // Reported where the first chunk has been sent.
    else ahead = pulled.catch(() => undefined);
    response.statusCode = 200;
    response.setHeader('Content-Type', type);
    // The client must get the chunk now, not when the compressor's buffer is full.
    const flush = isChunked ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
    const sink = isGzip ? createGzip({ flush, level: ANSWER_LEVEL }) : response;
    if (isGzip) {
      response.setHeader('Content-Encoding', 'gzip');
      sink.pipe(response);
    }
    const gone = goneSignal(exchange);
    for (let next: IteratorResult<Uint8Array> = first; next.done !== true;) {
      const piece = next.value;
      const isBelow = sink.write(piece, (error) => {
        // It has been sent, so its buffer can be reused for the next one.
        if (error === undefined || error === null) releaseBuffer(piece);
      });
      if (!isBelow && !gone.aborted) {
        await once(sink, 'drain', { signal: gone }).catch(() => undefined); // The client has gone.
      }
      if (gone.aborted) return;
      if (next !== first) next = arrived(await pieces.next());
      else next = second ?? arrived(await pulled);
    }
    sink.end();
  } catch (error) {
    // After a part of the answer was sent, breaking the connection is the only way to report that
    // the rest is missing.
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    // A client that has gone has cancelled it.
    await ahead;
    pieces.return();
  }
}

/**
 * For answers that fit into one packet, compression saves nothing and costs more than the query.
 */
async function sendWhole(
  piece: Uint8Array,
  exchange: Exchange,
  { type, isGzip }: { readonly type: string; readonly isGzip: boolean },
): Promise<void> {
  if (!isGzip || piece.length < LIMITS.packedBytesMin.value) {
    return sendBody(exchange, 200, { type, content: piece });
  }
  const content = await packAnswer(piece);
  releaseBuffer(piece);
  exchange.response.setHeader('Content-Encoding', 'gzip');
  sendBody(exchange, 200, { type, content });
}

/** `gzip`, unless its quality is zero. */
function acceptsGzip(exchange: Exchange): boolean {
  const accepted = String(exchange.request.headers['accept-encoding'] ?? '').toLowerCase();
  return accepted.split(',').some((entry) => /^\s*gzip\s*(;|$)(?!\s*q=0(\.0*)?\s*$)/.test(entry));
}
