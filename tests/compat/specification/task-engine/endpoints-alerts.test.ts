// The section “Alerts” of the specification of the task engine's HTTP API, sentence by sentence.
import { eventually } from '@tidemark/testkit';
import { expect } from 'vitest';
import {
  POST_ACTION,
  call,
  define,
  event,
  get,
  handler,
  newId,
  sentences,
  topicPath,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Alerts (preview base path `/engine/v1preview`)', [
  [
    'GET /engine/v1preview/alerts/topics | query `min-level` (default `OK`; values `OK`, `INFO`, `WARNING`, `CRITICAL`; returns topics at or above it), `pattern` (default `*`, glob on topic id) | `{link, topics:[topic...]}`',
    async () => {
      const { topic } = await event();
      const quiet = newId();
      await handler(quiet);
      const ids = async (query: string): Promise<string[]> =>
        (await get(`/engine/v1preview/alerts/topics?limit=-1&${query}`)).json.topics.map(
          ({ id }: any) => id,
        );
      expect(await ids('')).toEqual(expect.arrayContaining([topic, quiet]));
      expect(await ids(`pattern=${quiet}`)).toEqual([quiet]);
      const critical = await ids('min-level=CRITICAL');
      expect([critical.includes(topic), critical.includes(quiet)]).toEqual([true, false]);
    },
  ],
  [
    'GET /engine/v1preview/alerts/topics/<topic_id> | - | topic',
    async () => expect((await get(topicPath((await event()).topic))).status).toBe(200),
  ],
  [
    'DELETE /engine/v1preview/alerts/topics/<topic_id> | - | deletes all known events and state of the topic; the topic reappears if a new event is created for it',
    async () => {
      const { topic, id } = await event();
      expect((await call('DELETE', topicPath(topic))).status).toBe(204);
      expect((await get(`${topicPath(topic)}/events/${id}`)).status).toBe(404);
      await call('POST', '/write?db=d&rp=r', 'm v=9 1500000001000000000');
      await eventually('the topic', async () =>
        (await get(`${topicPath(topic)}/events/${id}`)).status === 200 ? true : undefined,
      );
    },
  ],
  [
    'GET /engine/v1preview/alerts/topics/<topic_id>/events | query `min-level` (default `OK`) | `{link, topic, events:[event...]}`',
    async () => {
      const { topic, id } = await event();
      const { json } = await get(`${topicPath(topic)}/events?min-level=CRITICAL`);
      expect(json).toMatchObject({ link: { rel: 'self' }, topic, events: [{ id }] });
    },
  ],
  [
    'GET /engine/v1preview/alerts/topics/<topic_id>/events/<event_id> | - | event',
    async () => {
      const { topic, id } = await event();
      expect((await get(`${topicPath(topic)}/events/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'GET /engine/v1preview/alerts/topics/<topic_id>/handlers | query `pattern` (default `*`) | `{link, topic, handlers:[handler...]}`; `handlers` is null for an auto-generated topic whose handlers are defined in a script',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const { json } = await get(`${topicPath(topic)}/handlers?pattern=${id}`);
      expect(json).toMatchObject({ topic, handlers: [{ id }] });
      const script = "stream|from()|alert().crit(lambda: TRUE).post('http://127.0.0.1:1')";
      const task = await define({ script, status: 'enabled' });
      const generated = (await get(`${topicPath(`main:${task.id}:alert2`)}/handlers`)).json;
      expect(generated.handlers).toBeNull();
    },
  ],
  [
    'GET /engine/v1preview/alerts/topics/<topic_id>/handlers/<handler_id> | - | handler',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'POST /engine/v1preview/alerts/topics/<topic_id>/handlers | handler: `id`, `actions` | created handler',
    async () => expect((await handler(newId())).actions).toEqual([POST_ACTION]),
  ],
  [
    'PUT /engine/v1preview/alerts/topics/<topic_id>/handlers/<handler_id> | full handler | replaces the handler; returns it',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const actions = [{ kind: 'tcp', options: { address: 'localhost:1' } }];
      const { json } = await call('PUT', `${topicPath(topic)}/handlers/${id}`, { id, actions });
      expect(json).toMatchObject({ id, actions });
    },
  ],
  [
    'PATCH /engine/v1preview/alerts/topics/<topic_id>/handlers/<handler_id> | JSON patch document per RFC 6902: array of `{op, path, value}` | returns the updated handler',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const patch = [
        { op: 'replace', path: '/actions/0/options/url', value: 'http://localhost:2/' },
      ];
      const { json } = await call('PATCH', `${topicPath(topic)}/handlers/${id}`, patch);
      expect(json.actions[0].options.url).toBe('http://localhost:2/');
    },
  ],
  [
    'DELETE /engine/v1preview/alerts/topics/<topic_id>/handlers/<handler_id> | - | removes the handler',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await call('DELETE', `${topicPath(topic)}/handlers/${id}`)).status).toBe(204);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).status).toBe(404);
    },
  ],
  [
    'Topics are created dynamically when a script or a handler refers to them.',
    async () => {
      const [byHandler, byScript] = [newId(), newId()];
      expect((await get(topicPath(byHandler))).status).toBe(404);
      await handler(byHandler);
      const script = `stream|from()|alert().crit(lambda: TRUE).topic('${byScript}')`;
      await define({ script, status: 'enabled' });
      expect((await get(topicPath(byHandler))).status).toBe(200);
      expect((await get(topicPath(byScript))).status).toBe(200);
    },
  ],
  [
    'Anonymous handlers created from scripts cannot be listed or modified through the API.',
    async () => {
      const script = "stream|from()|alert().crit(lambda: TRUE).post('http://127.0.0.1:1')";
      const task = await define({ script, status: 'enabled' });
      const path = `${topicPath(`main:${task.id}:alert2`)}/handlers`;
      expect((await get(path)).json.handlers).toBeNull();
      expect((await call('PATCH', `${path}/post1`, [])).status).toBe(404);
    },
  ],
]);
