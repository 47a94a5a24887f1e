// The section “Alert topic, event, handler” of the specification of the task engine's HTTP API,
// sentence by sentence.
import { expect } from 'vitest';
import {
  POST_ACTION,
  event,
  get,
  handler,
  newId,
  sentences,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Alert topic, event, handler', [
  [
    'topic | `id` string, `level` (`OK`, `INFO`, `WARNING`, `CRITICAL`), `link`, `events-link` (link object with rel `events`), `handlers-link` (link object with rel `handlers`)',
    async () => {
      const { topic } = await event();
      const href = topicPath(topic);
      expect((await get(href)).json).toMatchObject({
        id: topic,
        level: 'CRITICAL',
        link: { rel: 'self', href },
        'events-link': { rel: 'events', href: `${href}/events` },
        'handlers-link': { rel: 'handlers', href: `${href}/handlers` },
      });
    },
  ],
  [
    'event | `id` string, `link`, `state` = `{level, message: <string>, time: <timestamp>, duration: <duration string>}`',
    async () => {
      const { topic, id } = await event();
      const href = `${topicPath(topic)}/events/${id}`;
      expect((await get(href)).json).toMatchObject({
        id,
        link: { rel: 'self', href },
        state: {
          level: 'CRITICAL',
          message: expect.stringMatching(/CRITICAL/),
          time: '2017-07-14T02:40:00Z',
          duration: '0s',
        },
      });
    },
  ],
  [
    'handler | `id` string, `link`, `actions`: array of `{kind: <string>, options?: <object>}`',
    async () => {
      const topic = newId();
      const { id, link, actions } = await handler(topic);
      expect(link.href).toBe(`${topicPath(topic)}/handlers/${id}`);
      expect(actions).toEqual([POST_ACTION]);
    },
  ],
]);
