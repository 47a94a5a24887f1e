// The memory of bodies after their use.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Budget, systemClock } from '@tidemark/core';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { RequestBodies } from './request-bodies.ts';

const BODY_BYTES = 200_000;

const bodies = new RequestBodies({
  bodyBytesMax: 1_000_000,
  bodies: new Budget({
    what: 'request bodies',
    setting: 'http.body-memory-limit',
    limitBytes: 10_000_000,
    waitMs: 1000,
    clock: systemClock(),
  }),
});

function requestOf(body: Uint8Array, encoding: string): FastifyRequest {
  const raw = { headers: { 'content-encoding': encoding } };
  return { body, raw, exchange: { parts: [] } } as unknown as FastifyRequest;
}

test('the memory of a body is free as soon as its handler has read it', async () => {
  const received = new Uint8Array(BODY_BYTES);

  const body = await bodies.of(requestOf(received, ''));
  expect(body.length).toBe(BODY_BYTES);
  bodies.free(body);

  expect(received.buffer.byteLength).toBe(0);
});

test('that of a packed body is free when it is unpacked', async () => {
  const bytes = randomBytes(BODY_BYTES);
  const received = new Uint8Array(gzipSync(bytes));

  const body = await bodies.of(requestOf(received, 'gzip'));
  expect(bytes.equals(body)).toBe(true);
  expect(received.buffer.byteLength).toBe(0);
  bodies.free(body);

  expect(body.length).toBe(0);
});
