// throttle: passes at most a number of events of one id within an interval.
import { duration, integer } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const throttleHandler = defineHandler({
  kind: 'throttle',
  doc: 'Passes at most so many events of one id within an interval.',
  options: {
    interval: duration('Length of the interval; it begins with the first event that passes.', '1m'),
    count: integer('Events of one id that pass in an interval.', 1),
  },
});
