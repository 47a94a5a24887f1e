// Rules of the specification for all requests: ids, lists, errors, links.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();
const TOPICS = '/engine/v1preview/alerts/topics';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const POST = { kind: 'post', options: { url: 'http://127.0.0.1:1/' } };
const SCRIPT = 'stream|from()';
const DBRPS = [{ db: 'd', rp: 'r' }];

beforeAll(() =>
  engine.start({
    tsdb: [
      { name: 'main', default: true, urls: ['http://127.0.0.1:1'], 'disable-subscriptions': true },
    ],
  }),
);
afterAll(() => engine.close());

const call: TestEngine['call'] = (method, path, body) =>
  engine.call(method, path.startsWith('/') ? path : `/engine/v1/${path}`, body);

async function statusOf(method: string, path: string, body?: unknown): Promise<number> {
  const { status, json } = await call(method, path, body);
  if (status >= 400) expect(json).toMatchObject({ error: expect.any(String) });
  return status;
}

/** Defines a task and gives its id. */
async function define(more: object = {}): Promise<string> {
  const { status, json } = await call('POST', 'tasks', { script: SCRIPT, dbrps: DBRPS, ...more });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json.id;
}

describe('ids', () => {
  test.each([{}, { id: '' }])('a handler with %j gets a random one', async (given) => {
    const { status, json } = await call('POST', `${TOPICS}/ids/handlers`, {
      ...given,
      actions: [POST],
    });

    expect(status).toBe(200);
    expect(json.id).toMatch(UUID);
    expect((await call('GET', json.link.href)).json.id).toBe(json.id);
  });

  test('a replay with an id that exists is refused and changes nothing', async () => {
    const task = await define();
    const query = { task, query: 'SELECT v FROM d.r.m' };
    expect(await statusOf('POST', 'replays/query', { id: 'once', ...query })).toBe(201);

    expect(await statusOf('POST', 'replays/query', { id: 'once', ...query })).toBe(400);
    expect(await statusOf('DELETE', 'replays/once')).toBe(204);
    expect(await statusOf('POST', 'replays/query', { id: 'once', ...query })).toBe(201);
  });
});

describe('writes', () => {
  test('one without a retention policy is refused with what to do', async () => {
    const { status, json } = await call('POST', '/write?db=d', 'm v=1 1');

    expect(status).toBe(400);
    expect(json).toEqual({
      error:
        'retention policy is required: add rp=NAME, or set default-retention-policy in the configuration',
    });
  });

  test('one goes to the default policy where the configuration names one', async () => {
    const other = new TestEngine();
    await other.start({ 'default-retention-policy': 'r' });
    try {
      const task = { id: 't', script: "stream|from()|httpOut('out')", dbrps: DBRPS };
      await other.call('POST', '/engine/v1/tasks', { ...task, status: 'enabled' });

      expect((await other.call('POST', '/write?db=d', 'm v=7 1')).status).toBe(204);

      const { json } = await other.call('GET', '/engine/v1/tasks/t/out');
      expect(json.series[0].values[0][1]).toBe(7);
    } finally {
      await other.close();
    }
  });
});

describe('lists', () => {
  test('recordings are in order of time, newest first, within a second too', async () => {
    const task = await define();
    const ids = ['m', 'z', 'a', 'k'];
    const stop = '2099-01-01T00:00:00Z';
    for (const id of ids) await call('POST', 'recordings/stream', { id, task, stop });

    const { json } = await call('GET', 'recordings');

    expect(json.recordings.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  });

  test('those of topics, events, handlers and service tests show the fields that are asked for', async () => {
    await call('POST', `${TOPICS}/shown/handlers`, { id: 'h', actions: [POST] });
    const state = { level: 'CRITICAL', message: 'm', time: '2020-01-01T00:00:00Z', duration: '0s' };
    await call('PUT', `${TOPICS}/shown/events/e`, { state });
    const keysOf = async (path: string, list: string): Promise<readonly string[]> => {
      const [item] = (await call('GET', path)).json[list];
      return Object.keys(item).sort();
    };

    expect(await keysOf(`${TOPICS}?pattern=shown&fields=level`, 'topics')).toEqual([
      'id',
      'level',
      'link',
    ]);
    expect(await keysOf(`${TOPICS}/shown/events?fields=id`, 'events')).toEqual(['id', 'link']);
    expect(await keysOf(`${TOPICS}/shown/handlers?fields=link`, 'handlers')).toEqual([
      'id',
      'link',
    ]);
    expect(await keysOf('service-tests?fields=name', 'services')).toEqual(['link', 'name']);
  });

  test.each([`${TOPICS}`, `${TOPICS}/shown/events`, `${TOPICS}/shown/handlers`, 'service-tests'])(
    'that of %s refuses fields that it does not have',
    async (path) => expect(await statusOf('GET', `${path}?fields=nonsense`)).toBe(400),
  );

  test('that of service tests is shown in pages', async () => {
    const names = async (page: string): Promise<readonly string[]> => {
      const { json } = await call('GET', `service-tests${page}`);
      return json.services.map(({ name }: { name: string }) => name);
    };
    const all = await names('');

    expect(all.length).toBeGreaterThan(5);
    expect(await names('?offset=1&limit=2')).toEqual(all.slice(1, 3));
    expect(await statusOf('GET', 'service-tests?limit=many')).toBe(400);
  });

  test('that of tasks shows template-id, and only it when it alone is asked for', async () => {
    await call('POST', 'templates', { id: 'p', script: SCRIPT });
    const id = await define({ script: undefined, 'template-id': 'p' });

    expect((await call('GET', `tasks?pattern=${id}`)).json.tasks).toMatchObject([
      { id, 'template-id': 'p' },
    ]);
    expect((await call('GET', `tasks?pattern=${id}&fields=template-id`)).json.tasks).toEqual([
      { link: { rel: 'self', href: `/engine/v1/tasks/${id}` }, id, 'template-id': 'p' },
    ]);
  });
});

describe('requests that cannot work are refused as such', () => {
  test('ids that are taken', async () => {
    const task = await define();
    const other = await define();
    const recording = { id: 'taken', task, stop: '2099-01-01T00:00:00Z' };
    const handler = { id: 'taken', actions: [POST] };
    const path = `${TOPICS}/refused/handlers`;
    await call('POST', 'recordings/stream', recording);
    await call('POST', path, handler);
    await call('POST', path, { ...handler, id: 'other' });
    await call('POST', 'templates', { id: 'one', script: SCRIPT });
    await call('POST', 'templates', { id: 'two', script: SCRIPT });

    expect(await statusOf('POST', 'recordings/stream', recording)).toBe(400);
    expect(await statusOf('POST', path, handler)).toBe(400);
    expect(await statusOf('PUT', `${path}/other`, handler)).toBe(400);
    expect(await statusOf('PATCH', `tasks/${task}`, { id: other })).toBe(400);
    expect(await statusOf('PATCH', 'templates/one', { id: 'two' })).toBe(400);
  });

  test.each([
    ['an unknown kind', 'x', { kind: 'pigeon' }],
    ['an unknown option', 'x', { kind: 'post', options: { url: 'http://h/', nope: 1 } }],
    ['a bad id of the topic', 'bad%20topic', POST],
  ])('handlers with %s', async (_what, topic, action) => {
    const body = { id: 'h', actions: [action] };
    expect(await statusOf('POST', `${TOPICS}/${topic}/handlers`, body)).toBe(400);
  });

  test('a template that does not fit one of its tasks', async () => {
    await call('POST', 'templates', { id: 'fitting', script: SCRIPT });
    await define({ script: undefined, 'template-id': 'fitting' });
    const script = 'var missing int\nstream|from()';

    expect(await statusOf('PATCH', 'templates/fitting', { script })).toBe(400);
  });

  test('clusters that are not configured', async () => {
    const task = await define();
    const script = "stream|from()|influxDBOut().cluster('nope').database('d')";
    const query = { query: 'SELECT v FROM d.r.m', cluster: 'nope' };

    expect(await statusOf('POST', 'tasks', { script, dbrps: DBRPS, status: 'enabled' })).toBe(400);
    expect(await statusOf('POST', 'recordings/query', { type: 'stream', ...query })).toBe(404);
    expect(await statusOf('POST', 'replays/query', { task, ...query })).toBe(404);
  });

  test('types that are not those of the script', async () => {
    const id = await define({ type: 'stream' });
    await call('POST', 'templates', { id: 'typed', script: SCRIPT, type: 'stream' });
    const task = { dbrps: DBRPS, type: 'batch' };

    expect(await call('POST', 'tasks', { ...task, script: SCRIPT })).toMatchObject({
      status: 400,
      json: { error: 'type is batch, but the script is that of a stream task' },
    });
    expect(await statusOf('POST', 'tasks', { ...task, 'template-id': 'typed' })).toBe(400);
    expect(await statusOf('PATCH', `tasks/${id}`, { type: 'batch' })).toBe(400);
    expect(await statusOf('PATCH', `tasks/${id}`, { type: 'stream' })).toBe(200);
    expect(await statusOf('POST', 'templates', { script: SCRIPT, type: 'batch' })).toBe(400);
    expect(await statusOf('PATCH', 'templates/typed', { type: 'batch' })).toBe(400);
  });

  test('changes of the configuration that would change nothing', async () => {
    const add = { name: 'extra', urls: ['http://127.0.0.1:1'], 'disable-subscriptions': true };

    expect(await call('POST', 'config/tsdb', { remove: ['main'] })).toMatchObject({
      status: 400,
      json: { error: expect.stringMatching(/tsdb\/main is an element of the configuration file/) },
    });
    expect(await statusOf('POST', 'config/tsdb', { remove: ['absent'] })).toBe(404);
    expect(await call('POST', 'config/tsdb', { sett: {} })).toMatchObject({
      status: 400,
      json: { error: expect.stringMatching(/has no member "sett"; it may have set, delete, add/) },
    });
    expect(await statusOf('POST', 'config/tsdb', { add })).toBe(200);
    expect(await statusOf('POST', 'config/tsdb', { remove: ['extra', 'extra'] })).toBe(200);
    expect(await statusOf('POST', 'config/tsdb', { remove: ['extra'] })).toBe(404);
  });
});

describe('links lead to what they belong to', () => {
  test.each(['Ünï_Δ', '100%', 'a b', 'sla/sh', 'what?', 'ha#sh', 'plus+', '%2F'])(
    'of an event %s',
    async (id) => {
      const state = { level: 'OK', message: 'm', time: '2020-01-01T00:00:00Z', duration: '0s' };
      await call('PUT', `${TOPICS}/t:Δ/events/${encodeURIComponent(id)}`, { state });
      const { events } = (await call('GET', `${TOPICS}/t:Δ/events`)).json;
      const event = events.find((each: { id: string }) => each.id === id);

      const { status, json } = await call('GET', event.link.href);

      expect(event.link.href).toMatch(/^[!-~]+$/);
      expect([status, json]).toEqual([200, event]);
    },
  );

  test('of tasks, recordings and elements of the configuration', async () => {
    const id = await define({ id: 'größe' });
    const stop = '2099-01-01T00:00:00Z';
    const recorded = await call('POST', 'recordings/stream', { id: 'Δ', task: id, stop });
    const add = { name: 'a/b c', urls: ['http://127.0.0.1:1'], 'disable-subscriptions': true };
    const { elements } = (await call('POST', 'config/tsdb', { add })).json;
    const links = [
      (await call('GET', 'tasks/gr%C3%B6%C3%9Fe')).json.link,
      recorded.json.link,
      elements.at(-1).link,
    ];

    const answers = await Promise.all(links.map(({ href }) => call('GET', href)));

    expect(answers.map(({ json }) => json.id ?? json.options.name)).toEqual([id, 'Δ', 'a/b c']);
  });
});

test('links of stores lead to them', async () => {
  const { storage } = (await call('GET', 'storage/stores')).json;

  expect((await call('GET', storage[0].link.href)).json).toEqual(storage[0]);
  expect(await statusOf('GET', 'storage/stores/absent')).toBe(404);
});

describe('values', () => {
  test('a star var is what definitions accept', async () => {
    const vars = { all: { type: 'star', value: '' } };
    const script = 'var all = *\nstream|from()|groupBy(all)';
    const id = await define({ script, vars });

    expect((await call('GET', `tasks/${id}`)).json.vars.all.value).toBe('');
  });

  test('the recipients of the test of smtp are a list', async () => {
    expect((await call('GET', 'service-tests/smtp')).json.options.to).toEqual([]);
  });
});

test.each([
  ['POST', 'recordings/stream', ''],
  ['PUT', 'documents?kind=dashboards&id=deep&version=0', ''],
  ['POST', 'storage/stores/tasks', 'failed to unmarshal storage action '],
])('%s %s refuses JSON that nests without end', async (method, path, prefix) => {
  const body = `{"title":"t","content":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const answer = await call(method, path, body);

  expect([answer.status, answer.json.error]).toEqual([
    400,
    `${prefix}JSON nests deeper than 200 levels`,
  ]);
});
