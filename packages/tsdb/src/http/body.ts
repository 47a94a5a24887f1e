// Request bodies: bounded, unpacked, and in a buffer of their own.
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { InvalidRequest } from '@tidemark/core';

import { BodyTooLarge, ClientGone } from './answer.ts';

const gunzipAsync = promisify(gunzip);

/**
 * Reads the whole body. The bytes own their ArrayBuffer, so that they can be given to another thread. `maxBytes`
 * bounds what is received and what it unpacks to; 0 is no limit.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const limit = maxBytes === 0 ? Number.MAX_SAFE_INTEGER : maxBytes;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > limit) throw new BodyTooLarge();
  const raw = Number.isInteger(declared)
    ? await readDeclared(request, declared)
    : await readStreamed(request, limit);
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return raw;
  if (encoding !== 'gzip') throw new InvalidRequest(`content encoding not supported: ${encoding}`);
  return unpack(raw, limit);
}

function readDeclared(request: IncomingMessage, sizeBytes: number): Promise<Uint8Array> {
  const body = new Uint8Array(sizeBytes);
  let received = 0;
  return receive(request, {
    onData: (chunk) => {
      // The parser of node cuts what goes beyond the declared length.
      body.set(chunk, received);
      received += chunk.length;
    },
    onEnd: () => (received === sizeBytes ? body : body.slice(0, received)),
  });
}

function readStreamed(request: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  return receive(request, {
    onData: (chunk) => {
      received += chunk.length;
      if (received > limitBytes) throw new BodyTooLarge();
      chunks.push(chunk);
    },
    onEnd: () => {
      const body = new Uint8Array(received);
      let at = 0;
      for (const chunk of chunks) {
        body.set(chunk, at);
        at += chunk.length;
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

async function unpack(raw: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  try {
    const maxOutputLength = Math.min(limitBytes, 2 ** 32);
    const unpacked = await gunzipAsync(raw, { maxOutputLength });
    // What zlib returns may lie in a larger buffer that is shared.
    return new Uint8Array(unpacked);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new BodyTooLarge();
    if (code === 'Z_BUF_ERROR') throw new InvalidRequest('unexpected EOF', { cause: error });
    throw new InvalidRequest('gzip: invalid header', { cause: error });
  }
}
