// The receiver of alerts, and a server that tasks post to, which may hang.
import { Unavailable } from '@tidemark/core';
import type { HttpSender } from '@tidemark/settings';
import type { ProcessClock, Timeline } from './timeline.ts';

export const RECEIVER_URL = 'http://receiver/';
export const SLOW_URL = 'http://slow/';

/** An event that was told, as its receiver knows it. */
export type Told = {
  readonly id: string;
  /** The message in its point. */
  readonly message: string;
  readonly level: string;
  /** The lease of its sender ended between the sending of the request and its arrival. */
  readonly isLate: boolean;
};

export type ReceiverWorld = {
  readonly clock: ProcessClock;
  readonly timeline: Timeline;
  readonly delayMs: () => number;
  /** Whether a request is sent at once; otherwise it waits for its connection. */
  readonly isConnected: () => boolean;
  /** Called before a request; the result says when it arrives whether it comes too late. */
  readonly sending: () => () => boolean;
  readonly isHanging: () => boolean;
  readonly told: (event: Told) => void;
};

/** Until a server that hangs is looked at again. */
const HANGING_MS = 500;

const OK = { status: 200, headers: {}, body: '' };

export function senderTo({
  clock,
  timeline,
  delayMs,
  isConnected,
  sending,
  isHanging,
  told,
}: ReceiverWorld): HttpSender {
  return {
    send: async ({ url, body, maySend }, signal) => {
      const isLate = sending();
      const isSent = isConnected();
      // A sent request arrives, whatever happens to the process meanwhile; an unsent one is sent
      // when the process continues, if it still may.
      const atMs = timeline.nowMs + delayMs();
      if (isSent) await new Promise<void>((resolve) => void timeline.at(atMs, resolve));
      else {
        await clock.sleep(atMs - timeline.nowMs, signal);
        if (maySend?.() === false) throw new Unavailable('it may not be sent any more');
      }
      if (url === SLOW_URL) while (isHanging()) await clock.sleep(HANGING_MS, signal);
      else if (url === RECEIVER_URL) told(eventOf(String(body), isSent && isLate()));
      else throw new Unavailable(`nobody answers at ${url}`);
      await clock.sleep(delayMs(), signal);
      return OK;
    },
    close: () => Promise.resolve(),
  };
}

function eventOf(body: string, isLate: boolean): Told {
  const { id, message, level } = JSON.parse(body) as Told;
  return { id, message, level, isLate };
}
