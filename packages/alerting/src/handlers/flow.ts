// Kinds that act on the flow of events instead of telling the outside. All but `publish` are steps
// of chain.ts.
import { AssertionFailed } from '@tidemark/core';
import { duration, integer, list, str } from '@tidemark/settings';
import { defineHandler } from '../handler.ts';

function isAStep(): Promise<void> {
  throw new AssertionFailed('assertion failed: this kind is executed by the chain');
}

function requirePositive(options: { readonly interval: bigint }): string | undefined {
  return options.interval > 0n ? undefined : 'interval must be greater than zero';
}

/** Passes events whose level differs from the one before. */
export const stateChangesOnly = defineHandler({
  kind: 'stateChangesOnly',
  doc: 'Passes an event on only when its level differs from the level its id had before.',
  options: {},
  send: isAStep,
});

/** Passes at most `count` events of one id per interval. */
export const throttle = defineHandler({
  kind: 'throttle',
  doc: 'Passes at most so many events of one id within an interval.',
  options: {
    interval: duration(
      'Length of the interval; it begins with the first event that passes.',
      60_000_000_000n,
    ),
    count: integer('Events of one id that pass in an interval.', 1),
  },
  validate: requirePositive,
  send: isAStep,
});

/** Combines the events of an interval into one. */
export const aggregate = defineHandler({
  kind: 'aggregate',
  doc: 'Collects events and passes one combined event per interval to the next action and to a topic.',
  options: {
    interval: duration('Length of the interval.'),
    topic: str('Topic that gets the combined event.'),
    id: str('Template of the combined id.', 'aggregate'),
    message: str(
      'Template of the combined message; knows Count and Interval.',
      'Received {{ .Count }} events in the last {{ .Interval }}.',
    ),
  },
  validate: requirePositive,
  send: isAStep,
});

/** Publishes the event into other topics. */
export const publish = defineHandler({
  kind: 'publish',
  doc: 'Publishes the event into other topics.',
  options: {
    topics: list('Topics that get the event.'),
  },
  send: (event, options, context) => {
    for (const topic of options.topics ?? []) context.publish(topic, event);
    return Promise.resolve();
  },
});
