// Request bodies: bounded, unpacked, and in a buffer of their own.
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { InvalidRequest } from '@tidemark/core';

import { BodyTooLarge, ClientGone } from './answer.ts';
import { releasePiece } from './release-piece.ts';

const gunzipAsync = promisify(gunzip);

/**
 * Reads the whole body. The bytes own their ArrayBuffer, so that they can be given to another thread. `maxBytes`
 * bounds what is received and what it unpacks to; 0 is no limit.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  allocate: Allocate = (sizeBytes) => new Uint8Array(sizeBytes),
): Promise<Uint8Array> {
  const limit = maxBytes === 0 ? Number.MAX_SAFE_INTEGER : maxBytes;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > limit) throw new BodyTooLarge();
  const encoding = request.headers['content-encoding'];
  const isPlain = encoding === undefined || encoding === 'identity';
  const room: Allocate = isPlain ? allocate : (sizeBytes) => new Uint8Array(sizeBytes);
  const raw = Number.isInteger(declared)
    ? await readDeclared(request, declared, room)
    : await readStreamed(request, limit, room);
  if (isPlain) return raw;
  if (encoding !== 'gzip') throw new InvalidRequest(`content encoding not supported: ${encoding}`);
  return unpack(raw, limit, allocate);
}

/** Where a body is put. What is returned may hold anything. */
export type Allocate = (sizeBytes: number) => Uint8Array;

function readDeclared(
  request: IncomingMessage,
  sizeBytes: number,
  allocate: Allocate,
): Promise<Uint8Array> {
  const body = allocate(sizeBytes);
  let received = 0;
  return receive(request, {
    onData: (chunk) => {
      // The parser of node cuts what goes beyond the declared length.
      body.set(chunk, received);
      received += chunk.length;
      releasePiece(chunk);
    },
    onEnd: () => (received === sizeBytes ? body : body.slice(0, received)),
  });
}

function readStreamed(
  request: IncomingMessage,
  limitBytes: number,
  allocate: Allocate,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  return receive(request, {
    onData: (chunk) => {
      received += chunk.length;
      if (received > limitBytes) throw new BodyTooLarge();
      chunks.push(chunk);
    },
    onEnd: () => {
      const body = allocate(received);
      let at = 0;
      for (const chunk of chunks) {
        body.set(chunk, at);
        at += chunk.length;
        releasePiece(chunk);
      }
      return body;
    },
  });
}

function receive(
  request: IncomingMessage,
  handler: { onData(chunk: Buffer): void; onEnd(): Uint8Array },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const fail = (error: Error): void => {
      if (isSettled) return;
      isSettled = true;
      request.pause();
      reject(error);
    };
    // `close` comes after every request, so the error is made only where it means something.
    const onGone = (): void => {
      if (!isSettled) fail(new ClientGone('the client closed the connection'));
    };
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return;
      try {
        handler.onData(chunk);
      } catch (error) {
        fail(error as Error);
      }
    });
    request.on('end', () => {
      if (isSettled) return;
      isSettled = true;
      resolve(handler.onEnd());
    });
    request.on('error', onGone);
    request.on('close', onGone);
  });
}

/** A portion of output is a job for a thread of its own: better one that has room for all than hundreds. */
const UNPACKED_PORTION_MIN = 16 << 10;
const UNPACKED_PORTION_MAX = 4 << 20;

/** What a gzip member says at its end that it unpacks to, and a little so that the end is seen; within bounds. */
function chunkSizeOf(raw: Uint8Array): number {
  if (raw.length < 18) return UNPACKED_PORTION_MIN;
  const { buffer, byteOffset } = raw;
  const told = new DataView(buffer, byteOffset).getUint32(raw.length - 4, true) + 64;
  return Math.max(UNPACKED_PORTION_MIN, Math.min(UNPACKED_PORTION_MAX, told));
}

async function unpack(
  raw: Uint8Array,
  limitBytes: number,
  allocate: Allocate,
): Promise<Uint8Array> {
  try {
    const maxOutputLength = Math.min(limitBytes, 2 ** 32);
    const unpacked = await gunzipAsync(raw, { maxOutputLength, chunkSize: chunkSizeOf(raw) });
    // What zlib returns may lie in a larger buffer that is shared.
    const body = allocate(unpacked.length);
    body.set(unpacked);
    return body;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new BodyTooLarge();
    if (code === 'Z_BUF_ERROR') throw new InvalidRequest('unexpected EOF', { cause: error });
    throw new InvalidRequest('gzip: invalid header', { cause: error });
  }
}
