// Request bodies: bounded and unpacked.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { InvalidRequest } from '@tidemark/core';
import type { Budget, Part } from '@tidemark/core';
import { receiveBody, unpackedBytes } from '@tidemark/process';
import type { Allocate } from '@tidemark/process';

import { BodyTooLarge, ClientGone } from './answer.ts';
import type { Exchange } from './exchange.ts';

const gunzipAsync = promisify(gunzip);

/** Limits of request bodies. */
export type BodyLimits = {
  /** Size of one as received, and unpacked; 0 is no limit. */
  readonly maxBytes: number;
  /** The budget of all bodies. */
  readonly budget: Budget;
};

/** The part of an exchange that is read. */
export type BodySource = Pick<Exchange, 'request' | 'parts'>;

/**
 * Reads the whole body, into memory of `allocate` or a buffer of its own. Its part of the budget is
 * released when the exchange is over.
 */
export function readBody(
  source: BodySource,
  limits: BodyLimits,
  allocate?: Allocate,
): Promise<Uint8Array> {
  const { request, parts } = source;
  const encoding = request.headers['content-encoding'];
  const isPlain = encoding === undefined || encoding === 'identity';
  const { budget, maxBytes } = limits;
  const options = { budget, maxBytes, parts, allocate: isPlain ? allocate : undefined };
  const raw = receiveBody(request, { ...options, tooLarge, gone });
  return isPlain ? raw : unpackBody(raw, { encoding, limits, parts, allocate });
}

const tooLarge = (): BodyTooLarge => new BodyTooLarge();
const gone = (): ClientGone => new ClientGone('the client closed the connection');

async function unpackBody(
  received: Promise<Uint8Array>,
  {
    encoding,
    limits,
    parts,
    allocate,
  }: {
    readonly encoding: string;
    readonly limits: BodyLimits;
    readonly parts: Part[];
    readonly allocate: Allocate | undefined;
  },
): Promise<Uint8Array> {
  const raw = await received;
  if (encoding !== 'gzip') throw new InvalidRequest(`content encoding not supported: ${encoding}`);
  // The declared size, which may be false: four threads unpack at a time, so that the damage is
  // limited.
  const declaredBytes = unpackedBytes(raw);
  parts.push(await limits.budget.take(Math.min(declaredBytes, limits.maxBytes || declaredBytes)));
  const limitBytes = limits.maxBytes === 0 ? Number.MAX_SAFE_INTEGER : limits.maxBytes;
  const body = await unpack(raw, limitBytes, allocate);
  if (body.length > declaredBytes)
    parts.push(await limits.budget.take(body.length - declaredBytes));
  return body;
}

/** A portion of output is a job for another thread: one large portion is better than hundreds. */
const UNPACKED_PORTION_MIN = 16 << 10;
const UNPACKED_PORTION_MAX = 4 << 20;

/** A little more than the size, so that the end is noticed; within bounds. */
function chunkSizeOf(raw: Uint8Array): number {
  const declared = unpackedBytes(raw) + 64;
  return Math.max(UNPACKED_PORTION_MIN, Math.min(UNPACKED_PORTION_MAX, declared));
}

async function unpack(
  raw: Uint8Array,
  limitBytes: number,
  allocate: Allocate = (sizeBytes) => new Uint8Array(sizeBytes),
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
