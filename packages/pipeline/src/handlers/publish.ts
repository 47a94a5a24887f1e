// publish: publishes the event into other topics.
import { list } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const publishHandler = defineHandler({
  kind: 'publish',
  doc: 'Publishes the event into other topics.',
  options: {
    topics: list('Topics that get the event.'),
  },
});
