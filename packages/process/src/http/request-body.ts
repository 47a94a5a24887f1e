// Reads request bodies into separate buffers: each has a limit, and all together share a budget,
// from which memory is taken before reading.
import type { IncomingMessage } from 'node:http';

import { Budget } from '@tidemark/core';
import type { Clock, Holder, Part } from '@tidemark/core';

import { releasePiece } from '../release-piece.ts';

/** The memory that the bodies of all requests of a service share. */
export function requestBodyBudget(
  http: { readonly bodyMemoryLimitBytes: number; readonly bodyMemoryTimeoutMs: number },
  clock: Clock,
): Budget {
  return new Budget({
    setting: 'http.body-memory-limit',
    limitBytes: http.bodyMemoryLimitBytes,
    waitMs: http.bodyMemoryTimeoutMs,
    clock,
    what: 'bodies of requests',
  });
}

/** Allocates memory for a body, with unspecified contents. */
export type Allocate = (sizeBytes: number) => Uint8Array;

export type BodyOptions = {
  /** 0 is no limit. */
  readonly maxBytes: number;
  readonly budget: Pick<Budget, 'take'>;
  /**
   * Parts of the budget are added here; the owner of the list releases them when the body is no
   * longer needed.
   */
  readonly parts: Part[];
  readonly allocate?: Allocate | undefined;
  /** The error for a larger body. */
  readonly tooLarge: () => Error;
  /** The error when the client goes away before the end. */
  readonly gone: () => Error;
};

/** The whole body, as sent, in memory of `allocate` or in a buffer of its own. */
export function receiveBody(request: IncomingMessage, options: BodyOptions): Promise<Uint8Array> {
  const limit = options.maxBytes === 0 ? Number.MAX_SAFE_INTEGER : options.maxBytes;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > limit) return Promise.reject(options.tooLarge());
  const reception = new Reception(request, options);
  if (!Number.isInteger(declared)) return readStreamed(reception, limit, options);
  const taken = declared > 0 ? reception.take(declared) : undefined;
  // Without a promise of its own where there is room, because most bodies are small.
  if (taken === undefined) return readDeclared(reception, declared, options);
  return taken.then(() => readDeclared(reception, declared, options));
}

/** The unpacked size according to the end of a gzip member. */
export function unpackedBytes(gzip: Uint8Array): number {
  if (gzip.length < 18) return 0;
  return new DataView(gzip.buffer, gzip.byteOffset).getUint32(gzip.length - 4, true);
}

/** How much a client may still send after its body was refused before its connection is closed. */
const DISCARDED_BYTES = 256 << 20;

/**
 * Reads the rest of a refused body. Closing at once would reset the connection before a client that
 * is still sending has read the answer.
 */
export function discardBody(request: IncomingMessage): void {
  let allowedBytes = DISCARDED_BYTES;
  request.on('data', (chunk: Buffer) => {
    allowedBytes -= chunk.length;
    if (allowedBytes < 0) request.socket.destroy();
  });
  request.resume();
}

const allocateZeroed: Allocate = (sizeBytes) => new Uint8Array(sizeBytes);

function readDeclared(
  reception: Reception,
  sizeBytes: number,
  { allocate = allocateZeroed }: BodyOptions,
): Promise<Uint8Array> {
  let body: Uint8Array;
  try {
    body = allocate(sizeBytes);
  } catch (error) {
    return Promise.reject(error as Error);
  }
  let received = 0;
  return reception.receive(
    (chunk) => {
      // Node's parser cuts data beyond the declared length.
      body.set(chunk, received);
      received += chunk.length;
      releasePiece(chunk);
    },
    () => (received === sizeBytes ? body : body.slice(0, received)),
  );
}

/** First memory for a body of unknown length; doubled each time. */
const FIRST_PART_BYTES = 64 << 10;

function readStreamed(
  reception: Reception,
  limitBytes: number,
  { allocate = allocateZeroed, tooLarge }: BodyOptions,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  let takenBytes = 0;
  const add = (chunk: Buffer): Promise<void> | undefined => {
    received += chunk.length;
    if (received > limitBytes) throw tooLarge();
    chunks.push(chunk);
    if (received <= takenBytes) return undefined;
    const wanted = Math.max(FIRST_PART_BYTES, takenBytes, chunk.length);
    takenBytes += wanted;
    return reception.take(wanted);
  };
  return reception.receive(add, () => {
    const body = allocate(received);
    let at = 0;
    for (const chunk of chunks) {
      body.set(chunk, at);
      at += chunk.length;
      releasePiece(chunk);
    }
    return body;
  });
}

/** A body being received: its bytes so far, and its parts of the budget. */
class Reception implements Holder {
  readonly #request: IncomingMessage;
  readonly #options: BodyOptions;
  /** While the client has to send; later its speed does not matter. */
  #isReceiving = false;
  #isOver = false;
  #received = 0;
  #fail: (error: Error) => void = () => undefined;

  constructor(request: IncomingMessage, options: BodyOptions) {
    this.#request = request;
    this.#options = options;
  }

  progress(): number | undefined {
    return this.#isReceiving ? this.#received : undefined;
  }

  revoke(error: Error): void {
    this.#fail(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#isReceiving = false;
  }

  /** `undefined` while there is room. */
  take(sizeBytes: number): Promise<void> | undefined {
    const { budget, parts } = this.#options;
    const part = budget.take(sizeBytes, this);
    if (part instanceof Promise) return this.#taken(part);
    parts.push(part);
    return undefined;
  }

  async #taken(part: Promise<Part>): Promise<void> {
    const wasReceiving = this.#isReceiving;
    // The service does not read.
    this.#isReceiving = false;
    const taken = await part;
    if (this.#isOver) {
      // The client has gone meanwhile, and the other parts are released.
      taken.release();
      return;
    }
    this.#options.parts.push(taken);
    this.#isReceiving = wasReceiving;
  }

  /**
   * Resolves at the end of the body with what `whole` returns. `onData` may take time, which delays
   * the client.
   */
  receive(
    onData: (chunk: Buffer) => Promise<void> | undefined | void,
    whole: () => Uint8Array,
  ): Promise<Uint8Array> {
    const request = this.#request;
    const { gone } = this.#options;
    this.#isReceiving = true;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (this.#isOver) return;
        this.#end();
        request.pause();
        reject(error);
      };
      this.#fail = fail;
      // `close` comes after every request, so the error is only created if it is needed.
      const onGone = (): void => {
        if (!this.#isOver) fail(gone());
      };
      if (request.destroyed && !request.complete) return onGone();
      request.on('data', (chunk: Buffer) => {
        if (this.#isOver) return;
        this.#received += chunk.length;
        try {
          const later = onData(chunk);
          if (later === undefined) return;
          request.pause();
          later.then(() => {
            if (!this.#isOver) request.resume();
          }, fail);
        } catch (error) {
          fail(error as Error);
        }
      });
      request.on('end', () => {
        if (this.#isOver) return;
        this.#end();
        try {
          resolve(whole());
        } catch (error) {
          // There may be no memory for it.
          reject(error as Error);
        }
      });
      request.on('error', onGone);
      request.on('close', onGone);
    });
  }
}
