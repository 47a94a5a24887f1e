// Mistakes in a handler are reported when it is defined.
import { expect, test } from 'vitest';
import { checkAction } from './script-handler.ts';
import { handlerContext } from './testing/handler-context.ts';
import { sectionsOf } from '@tidemark/testkit';

/** One cluster is configured. */
const context = handlerContext({
  section: sectionsOf({ kafka: [{ enabled: true, id: 'known' }] }).section,
  http: {
    send: () => Promise.reject(new Error('nothing is sent')),
    close: () => Promise.resolve(),
  },
  connections: {
    use: () => Promise.reject(new Error('nothing is connected')),
    discard: () => Promise.resolve(),
  },
});

test.each([
  ['nothing', {}, 'unsupported action kind "nothing"'],
  ['kafka', { topic: 't', cluster: 'other' }, 'unknown cluster "other"'],
  ['kafka', { cluster: 'known' }, 'topic must not be empty'],
  ['kafka', { topic: 't', partitionAlgorithm: 'x' }, 'invalid partition algorithm: "x"'],
])('a %s handler with %o is refused', (kind, options, reason) => {
  expect(() => checkAction(kind, options, context)).toThrow(reason);
});

test.each([{ topic: 't' }, { topic: 't', cluster: 'known' }])('%o is fine', (options) => {
  expect(checkAction('kafka', options, context).kind.kind).toBe('kafka');
});
