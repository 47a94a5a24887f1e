// Follows a log: reads what is new every few seconds, while its newest events are in view.
import { useEffect, useRef } from 'preact/hooks';

import type { EventList } from './events.ts';

/** Between two reads, and at least so many times what the last one took. */
const EVERY_MS = 2000;
const TIMES = 3;
/** Counting reads all of the time range. */
const COUNT_EVERY_MS = 10_000;

export function useFollowing({
  isOn,
  isHeld,
  list,
  onCount,
}: {
  readonly isOn: boolean;
  /** Older events are being read: nothing moves. */
  readonly isHeld: boolean;
  readonly list: EventList;
  /** It is time to count again. */
  readonly onCount: () => void;
}): void {
  const count = useRef(onCount);
  count.current = onCount;
  const isActive = isOn && !isHeld;
  useEffect(() => {
    if (!isActive) return undefined;
    let timer = 0;
    let isGone = false;
    let countedMs = performance.now();
    const follow = async (): Promise<void> => {
      const startedMs = performance.now();
      if (!document.hidden) {
        await list.newer(Date.now());
        if (startedMs - countedMs >= COUNT_EVERY_MS) {
          countedMs = startedMs;
          count.current();
        }
      }
      // `newer` shows its errors itself.
      if (!isGone) schedule(Math.max(EVERY_MS, (performance.now() - startedMs) * TIMES));
    };
    const schedule = (ms: number): void => {
      timer = window.setTimeout(() => void follow(), ms);
    };
    schedule(0);
    return () => {
      isGone = true;
      window.clearTimeout(timer);
    };
  }, [isActive, list]);
}
