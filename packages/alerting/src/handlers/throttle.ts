// throttle: passes at most a number of events of one id within an interval.
import type { Clock } from '@tidemark/core';
import { throttleHandler } from '@tidemark/pipeline';
import type { OptionsOf } from '@tidemark/settings';
import { PASS, STOP } from '../delivery.ts';
import type { ChainStep } from '../delivery.ts';
import { act } from '../handler.ts';
import { requirePositive } from './intervals.ts';

export const throttle = act(throttleHandler, {
  validate: requirePositive,
  makeStep: (options, { context }) => throttleStep(options, context.clock),
});

// Maximum number of event ids in a throttle; the oldest is dropped first, which at worst lets one
// event too many pass.
const THROTTLED_IDS_MAX = 10_000;

function throttleStep(
  { interval, count: countMax }: OptionsOf<typeof throttleHandler.options>,
  clock: Clock,
): ChainStep {
  const windows = new Map<string, { start: bigint; count: number }>();
  return {
    isLocal: true,
    run: ({ event }) => {
      const now = clock.now();
      const window = windows.get(event.id);
      if (window !== undefined && now - window.start < interval) {
        window.count++;
        return Promise.resolve(window.count > countMax ? STOP : PASS);
      }
      windows.delete(event.id);
      windows.set(event.id, { start: now, count: 1 });
      if (windows.size > THROTTLED_IDS_MAX) {
        for (const oldest of windows.keys()) {
          windows.delete(oldest);
          break;
        }
      }
      return Promise.resolve(PASS);
    },
  };
}
