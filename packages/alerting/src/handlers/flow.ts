// Kinds that act on the flow of events instead of telling the outside. All but `publish` are steps
// of chain.ts.
import { AssertionFailed } from '@tidemark/core';
import { strings } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import type { HandlerKind } from '../handler.ts';

function isAStep(): Promise<void> {
  throw new AssertionFailed('assertion failed: this kind is executed by the chain');
}

function requirePositive(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'bigint' && value > 0n ? undefined : `${name} must be greater than zero`;
}

/** Passes events whose level differs from the one before. */
export const stateChangesOnly: HandlerKind = {
  kind: 'stateChangesOnly',
  doc: 'Passes an event on only when its level differs from the level its id had before.',
  options: [],
  send: isAStep,
};

/** Passes at most `count` events of one id per interval. */
export const throttle: HandlerKind = {
  kind: 'throttle',
  doc: 'Passes at most so many events of one id within an interval.',
  options: [
    {
      name: 'interval',
      type: 'duration',
      default: 60_000_000_000n,
      doc: 'Length of the interval; it begins with the first event that passes.',
    },
    {
      name: 'count',
      type: 'integer',
      default: 1,
      doc: 'Events of one id that pass in an interval.',
    },
  ],
  validate: (options) => requirePositive(options, 'interval'),
  send: isAStep,
};

/** Combines the events of an interval into one. */
export const aggregate: HandlerKind = {
  kind: 'aggregate',
  doc: 'Collects events and passes one combined event per interval to the next action and to a topic.',
  options: [
    { name: 'interval', type: 'duration', default: 0n, doc: 'Length of the interval.' },
    { name: 'topic', type: 'string', default: '', doc: 'Topic that gets the combined event.' },
    { name: 'id', type: 'string', default: 'aggregate', doc: 'Template of the combined id.' },
    {
      name: 'message',
      type: 'string',
      default: 'Received {{ .Count }} events in the last {{ .Interval }}.',
      doc: 'Template of the combined message; knows Count and Interval.',
    },
  ],
  validate: (options) => requirePositive(options, 'interval'),
  send: isAStep,
};

/** Publishes the event into other topics. */
export const publish: HandlerKind = {
  kind: 'publish',
  doc: 'Publishes the event into other topics.',
  options: [{ name: 'topics', type: 'strings', default: null, doc: 'Topics that get the event.' }],
  send: (event, options, context) => {
    for (const topic of strings(options, 'topics')) context.publish(topic, event);
    return Promise.resolve();
  },
};
