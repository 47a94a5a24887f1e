// The receiver of alerts, and a server that tasks post to, which may hang.
import { Unavailable } from '@tidemark/core';
import type { HttpSender } from '@tidemark/settings';
import type { ProcessClock, Timeline } from './timeline.ts';

export const RECEIVER_URL = 'http://receiver/';
export const SLOW_URL = 'http://slow/';

/** An event that was told, as its receiver knows it. */
export type Told = {
  readonly id: string;
  /** What its point says. */
  readonly message: string;
  readonly level: string;
};

export type ReceiverWorld = {
  readonly clock: ProcessClock;
  readonly timeline: Timeline;
  readonly delayMs: () => number;
  readonly isHanging: () => boolean;
  readonly told: (event: Told) => void;
};

/** Until a server that hangs is looked at again. */
const HANGING_MS = 500;

const OK = { status: 200, headers: {}, body: '' };

export function senderTo({ clock, timeline, delayMs, isHanging, told }: ReceiverWorld): HttpSender {
  return {
    send: async ({ url, body }, signal) => {
      // What was sent arrives, whatever becomes of the process meanwhile.
      const atMs = timeline.nowMs + delayMs();
      await new Promise<void>((resolve) => void timeline.at(atMs, resolve));
      if (url === SLOW_URL) while (isHanging()) await clock.sleep(HANGING_MS, signal);
      else if (url === RECEIVER_URL) told(eventOf(String(body)));
      else throw new Unavailable(`nobody answers at ${url}`);
      await clock.sleep(delayMs(), signal);
      return OK;
    },
    close: () => Promise.resolve(),
  };
}

function eventOf(body: string): Told {
  const { id, message, level } = JSON.parse(body) as Told;
  return { id, message, level };
}
