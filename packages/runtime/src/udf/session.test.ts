// Matching of a function's responses to requests.
import { expect, test } from 'vitest';
import type { UdfConnection } from '../services.ts';
import { VirtualTimers } from '../timers.ts';
import { UdfSession } from './session.ts';

/**
 * A connection whose other side gives requests back one at a time; a sign of life is echoed as it
 * is.
 */
function echo(): { readonly connection: UdfConnection; answerNext(): void } {
  const sent: Uint8Array[] = [];
  let toSession: (bytes: Uint8Array) => void = () => undefined;
  return {
    connection: {
      send: (bytes) => sent.push(bytes),
      onData: (listener) => (toSession = listener),
      onEnd: () => undefined,
      end: () => undefined,
      kill: () => undefined,
    },
    answerNext: () => toSession(sent.shift() ?? new Uint8Array(0)),
  };
}

test('the answer to the regular sign of life does not settle what was sent after it', async () => {
  const { connection, answerNext } = echo();
  const timers = new VirtualTimers(0n);
  const session = new UdfSession(connection, { data: () => undefined, failed: () => undefined });
  session.keepAlive(timers, 1000);
  timers.advanceTo(500_000_000n);

  let isSettled = false;
  const settled = session.settled(timers.now()).then(() => (isSettled = true));
  answerNext();
  await Promise.resolve();
  await Promise.resolve();
  expect(isSettled).toBe(false);

  answerNext();
  await settled;
  expect(isSettled).toBe(true);
});
