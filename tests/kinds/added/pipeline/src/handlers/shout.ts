// shout: says the message in capital letters.
import { list, ownFile } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const shoutHandler = defineHandler({
  kind: 'shout',
  doc: 'Says the message in capital letters.',
  options: {
    to: ownFile('Who hears it.'),
    words: list('What is said before it.'),
  },
  script: {
    name: 'shout',
    className: 'ShoutHandler',
    arguments: [{ option: 'to', name: 'to' }],
    properties: { words: 'words' },
  },
});
