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

sentences('Alerts', [
  [
    'GET topics: min-level and pattern',
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
    'GET topics/<id>',
    async () => expect((await get(topicPath((await event()).topic))).status).toBe(200),
  ],
  [
    'DELETE topics/<id>: it reappears with a new event',
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
    'GET topics/<id>/events',
    async () => {
      const { topic, id } = await event();
      const { json } = await get(`${topicPath(topic)}/events?min-level=CRITICAL`);
      expect(json).toMatchObject({ link: { rel: 'self' }, topic, events: [{ id }] });
    },
  ],
  [
    'GET topics/<id>/events/<id>',
    async () => {
      const { topic, id } = await event();
      expect((await get(`${topicPath(topic)}/events/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'GET topics/<id>/handlers: null for an auto-generated topic',
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
    'GET topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'POST topics/<id>/handlers',
    async () => expect((await handler(newId())).actions).toEqual([POST_ACTION]),
  ],
  [
    'PUT topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      const actions = [{ kind: 'tcp', options: { address: 'localhost:1' } }];
      const { json } = await call('PUT', `${topicPath(topic)}/handlers/${id}`, { id, actions });
      expect(json).toMatchObject({ id, actions });
    },
  ],
  [
    'PATCH topics/<id>/handlers/<id>',
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
    'DELETE topics/<id>/handlers/<id>',
    async () => {
      const topic = newId();
      const { id } = await handler(topic);
      expect((await call('DELETE', `${topicPath(topic)}/handlers/${id}`)).status).toBe(204);
      expect((await get(`${topicPath(topic)}/handlers/${id}`)).status).toBe(404);
    },
  ],
]);
