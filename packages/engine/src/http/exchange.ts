// What the server keeps of a request until it is answered: a field of it, not maps by request. V8
// visits all entries of a `WeakMap` whenever it collects young objects, and what an old `Set` held
// survives those collections.
import type { Arrival, Part } from '@tidemark/core';
import type { ServerResponse } from 'node:http';
import type { RequestUser } from '../access/request.ts';

export interface Exchange extends Arrival<Exchange> {
  readonly response: ServerResponse;
  /** The server does not stop before it is answered; streams are cut off. */
  isAnswering: boolean;
  /** Absent if not known. */
  user: RequestUser | undefined;
  /** The body of a request that may change something; otherwise empty. */
  noted: Uint8Array;
  /** Parts of the budget for bodies that it holds. */
  readonly parts: Part[];
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
}
