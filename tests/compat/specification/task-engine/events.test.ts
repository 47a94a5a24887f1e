// The section “Events” of the specification of the task engine's HTTP API, sentence by sentence.
import { eventually } from '@tidemark/testkit';
import { expect } from 'vitest';
import {
  call,
  define,
  event,
  get,
  handler,
  newId,
  sentences,
  STREAM,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Events', [
  [
    'Alert events are held in topics and are read with the events endpoints above (fields `id`, `state.level`, `state.message`, `state.time`, `state.duration`).',
    async () => {
      const { topic, id } = await event();
      const { json } = await get(`${topicPath(topic)}/events/${id}`);
      expect(json).toMatchObject({
        id,
        state: { level: 'CRITICAL', message: expect.any(String), duration: '0s' },
      });
      expect(json.state.time).toBe('2017-07-14T02:40:00Z');
    },
  ],
  [
    'Handlers attached to a topic act on new events of that topic.',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const script = STREAM.replace("'spec'", `'${topic}'`);
      await define({ status: 'enabled', script });
      await call('POST', '/write?db=d&rp=r', 'm v=9 1500000000000000000');
      await eventually('the handler to act', async () => {
        const { json } = await get(`${topicPath(topic)}/handlers/${id}/state`);
        return json.recent.length > 0 ? true : undefined;
      });
    },
  ],
  [
    'A topic is created when first referred to, and its events and state are removed when the topic is deleted.',
    async () => {
      const { topic, id } = await event();
      expect((await get(topicPath(topic))).status).toBe(200);
      expect((await call('DELETE', topicPath(topic))).status).toBe(204);
      await eventually('the event to be gone', async () =>
        (await get(`${topicPath(topic)}/events/${id}`)).status === 404 ? true : undefined,
      );
    },
  ],
]);
