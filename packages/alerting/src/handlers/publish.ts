// publish: publishes the event into other topics.
import { publishHandler } from '@tidemark/pipeline';
import { deliver } from '../handler.ts';

export const publish = deliver(publishHandler, {
  send: (event, options, context) => {
    for (const topic of options.topics ?? []) context.publish(topic, event);
    return Promise.resolve();
  },
});
