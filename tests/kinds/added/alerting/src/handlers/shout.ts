// shout: says the message in capital letters.
import { shoutHandler } from '@tidemark/pipeline';
import { deliver } from '../handler.ts';

export const shout = deliver(shoutHandler, {
  validate: ({ to }) => (to === '' ? 'nobody would hear it' : undefined),
  send: (event, { to, words }, context) => {
    const message = [...(words ?? []), event.message].join(' ').toUpperCase();
    context.publish(to, { ...event, message });
    return Promise.resolve();
  },
});
