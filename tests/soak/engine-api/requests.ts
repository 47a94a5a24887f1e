// Requests whose responses follow from the specification alone, whatever the engine's state.
import { FAILURE, isAnything, isText } from './call.ts';
import type { Call } from './call.ts';

const failure = (method: Call['method'], path: string, status: number, body?: unknown): Call => ({
  method,
  path,
  status,
  json: FAILURE,
  ...(body === undefined ? {} : { body }),
});

const answer = (
  method: Call['method'],
  path: string,
  status: number,
  more: Partial<Call> = {},
): Call => ({
  method,
  path,
  status,
  ...more,
});

const isObject = (actual: unknown): boolean => actual !== null && typeof actual === 'object';
const LONG_ID = 'i'.repeat(1025);
const SCRIPT = 'stream|from()';
const POST = { kind: 'post', options: { url: 'http://127.0.0.1:1/' } };
/** The id that the engine chose last. */
let randomId = '';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Each is a request, or several that belong together. */
export const FIXED_REQUESTS: readonly (readonly Call[])[] = [
  // Unknown things and wrong methods.
  [failure('GET', 'nowhere', 404)],
  [failure('GET', '/nowhere', 404)],
  [failure('PUT', 'tasks', 405)],
  [failure('DELETE', 'ping', 405)],
  [failure('GET', 'tasks/absent', 404)],
  [failure('GET', 'tasks/absent/out', 404)],
  [failure('PATCH', 'tasks/absent', 404, {})],
  [answer('DELETE', 'tasks/absent', 204)],
  [failure('GET', 'templates/absent', 404)],
  [failure('PATCH', 'templates/absent', 404, {})],
  [answer('DELETE', 'templates/absent', 204)],
  [failure('GET', 'recordings/absent', 404)],
  [answer('DELETE', 'recordings/absent', 204)],
  [failure('GET', 'replays/absent', 404)],
  [answer('DELETE', 'replays/absent', 204)],
  [failure('GET', 'alerts/topics/absent', 404)],
  [failure('GET', 'alerts/topics/absent/events', 404)],
  [failure('GET', 'alerts/topics/t0/events/absent', 404)],
  [failure('GET', 'alerts/topics/t0/handlers/absent', 404)],
  [answer('DELETE', 'alerts/topics/absent', 204)],
  // Bodies that are no JSON, or of another shape.
  ...[
    'tasks',
    'templates',
    'recordings/stream',
    'recordings/batch',
    'recordings/query',
    'replays/',
  ].flatMap((path) => [
    [failure('POST', path, 400, '{')],
    [failure('POST', path, 400, '')],
    [failure('POST', path, 400, [1])],
    [failure('POST', path, 400, { id: 7 })],
    [failure('POST', path, 400, { id: LONG_ID, script: SCRIPT })],
  ]),
  [failure('POST', 'tasks', 400, { id: 'bad id', script: SCRIPT, dbrps: [{ db: 'd', rp: 'r' }] })],
  [failure('POST', 'tasks', 400, { id: 'x', dbrps: [{ db: 'd', rp: 'r' }] })],
  [failure('POST', 'tasks', 400, { id: 'x', script: SCRIPT })],
  [failure('POST', 'tasks', 400, { id: 'x', script: SCRIPT, dbrps: 'd.r' })],
  [failure('POST', 'tasks', 400, { id: 'x', script: SCRIPT, status: 'on' })],
  [failure('POST', 'tasks', 400, { id: 'x', script: SCRIPT, type: 'river' })],
  [failure('POST', 'tasks', 400, { id: 'x', 'template-id': 'absent' })],
  [
    failure('POST', 'recordings/stream', 404, {
      id: 'x',
      task: 'absent',
      stop: '2020-01-01T00:00:00Z',
    }),
  ],
  [failure('POST', 'recordings/stream', 400, { id: 'x', task: 'absent' })],
  [failure('POST', 'recordings/batch', 400, { id: 'x', task: 'absent' })],
  [failure('POST', 'recordings/batch', 400, { id: 'x', task: 'absent', start: 'yesterday' })],
  [failure('POST', 'recordings/query', 400, { id: 'x', type: 'river', query: 'q' })],
  [
    failure('POST', 'replays/', 400, {
      id: 'x',
      task: 'absent',
      recording: 'absent',
      clock: 'slow',
    }),
  ],
  [failure('POST', 'replays/batch', 400, { id: 'x', task: 'absent' })],
  // Lists.
  ...['tasks', 'templates', 'recordings', 'replays'].flatMap((path) => [
    [failure('GET', `${path}?limit=many`, 400)],
    [failure('GET', `${path}?offset=1.5`, 400)],
    [answer('GET', `${path}?pattern=none*`, 200, { json: { [path]: [] } })],
    [answer('GET', `${path}?limit=0`, 200, { json: { [path]: [] } })],
  ]),
  [failure('GET', 'tasks?fields=nonsense', 400)],
  [failure('GET', 'templates?fields=nonsense', 400)],
  [failure('GET', 'tasks?script-format=pretty', 400)],
  [failure('GET', 'tasks?dot-view=picture', 400)],
  [failure('GET', 'alerts/topics?min-level=SEVERE', 400)],
  ...['alerts/topics', 'alerts/topics/t0/handlers', 'service-tests'].map((path) => [
    failure('GET', `${path}?fields=nonsense`, 400),
  ]),
  [
    answer('GET', 'service-tests?limit=1&offset=0&fields=name', 200, {
      json: {
        services: [
          (item) =>
            Object.keys(item as object)
              .sort()
              .join() === 'link,name',
        ],
      },
    }),
  ],
  [
    answer('GET', 'alerts/topics?fields=level&pattern=t*', 200, {
      json: {
        topics: (list) =>
          (list as readonly object[]).every(
            (item) => Object.keys(item).sort().join() === 'id,level,link',
          ),
      },
    }),
  ],
  // Paths that cannot be decoded, and types that are not those of the script.
  [failure('GET', 'tasks/%zz', 400)],
  [failure('GET', 'tasks/%ff', 400)],
  [failure('POST', 'templates', 400, { id: 'x', script: SCRIPT, type: 'batch' })],
  [
    failure('POST', 'tasks', 400, {
      id: 'x',
      script: SCRIPT,
      type: 'batch',
      dbrps: [{ db: 'd', rp: 'r' }],
    }),
  ],
  // A star var is what definitions accept; a bad id of a topic; a handler without an id.
  [
    {
      method: 'POST',
      path: 'templates',
      body: { script: 'var all = *\nstream|from()|groupBy(all)' },
      status: 200,
      json: { vars: { all: { type: 'star', value: '' } } },
      onAnswer: (json) => (randomId = (json as { readonly id: string }).id),
    },
    { method: 'DELETE', path: () => `templates/${randomId}`, status: 204 },
  ],
  [failure('POST', 'alerts/topics/bad%20id/handlers', 400, { id: 'h', actions: [POST] })],
  [
    {
      method: 'POST',
      path: 'alerts/topics/tx/handlers',
      body: { actions: [POST] },
      status: 200,
      json: { id: (actual) => UUID.test(String(actual)) },
      onAnswer: (json) => (randomId = (json as { readonly id: string }).id),
    },
    { method: 'DELETE', path: () => `alerts/topics/tx/handlers/${randomId}`, status: 204 },
    // A topic stays when its handlers go.
    { method: 'DELETE', path: 'alerts/topics/tx', status: 204 },
  ],
  // A random id, which is given back.
  [
    {
      method: 'POST',
      path: 'templates',
      body: { script: SCRIPT },
      status: 200,
      json: { id: (actual) => UUID.test(String(actual)) },
      onAnswer: (json) => (randomId = (json as { readonly id: string }).id),
    },
    { method: 'DELETE', path: () => `templates/${randomId}`, status: 204 },
  ],
  // Configuration.
  [failure('GET', 'config/absent', 404)],
  [failure('GET', 'config/', 400)],
  [failure('GET', 'config/tsdb/absent', 404)],
  [failure('GET', 'config/smtp/absent', 404)],
  [failure('POST', 'config', 400, {})],
  [failure('POST', 'config/absent', 404, { set: {} })],
  [failure('POST', 'config/smtp/', 404, { delete: ['nonsense'] })],
  [failure('POST', 'config/smtp', 400, { set: { host: 'x' } })],
  [failure('POST', 'config/smtp', 400, { add: { host: 'x' } })],
  [failure('POST', 'config/tsdb/fake', 400, { add: { name: 'x' } })],
  [failure('POST', 'config/tsdb/fake', 400, { remove: ['x'] })],
  [failure('POST', 'config/smtp/', 400, '{')],
  [failure('POST', 'config/smtp/', 400, { sett: { host: 'x' } })],
  [failure('POST', 'config/tsdb', 400, { remove: ['fake'] })],
  [failure('POST', 'config/tsdb', 404, { remove: ['absent'] })],
  [
    answer('GET', 'config', 200, {
      json: { link: { rel: 'self', href: '@/config' }, sections: isObject },
    }),
  ],
  // Storage and service tests.
  [answer('POST', 'storage/stores/tasks', 204, { body: { action: 'rebuild' } })],
  [failure('POST', 'storage/stores/absent', 404, { action: 'rebuild' })],
  [failure('POST', 'storage/stores/tasks', 400, { action: 'burn' })],
  [answer('GET', 'storage/stores', 200, { json: { storage: (list) => Array.isArray(list) } })],
  [failure('GET', 'service-tests/absent', 404)],
  [failure('POST', 'service-tests/absent', 404, {})],
  [answer('GET', 'service-tests?pattern=smtp', 200, { json: { services: [{ name: 'smtp' }] } })],
  [answer('GET', 'service-tests?pattern=none*', 200, { json: { services: [] } })],
  [
    answer('GET', 'service-tests/smtp', 200, {
      json: { options: { to: (to) => Array.isArray(to) } },
    }),
  ],
  [
    answer('POST', 'service-tests/talk', 200, {
      body: {},
      json: { success: false, message: 'service is not enabled' },
    }),
  ],
  [
    answer('POST', 'service-tests/tsdb', 200, {
      body: { cluster: 'fake' },
      json: { success: true, message: '' },
    }),
  ],
  // The rest.
  [answer('GET', 'ping', 204)],
  [answer('GET', 'debug/vars', 200, { json: { num_tasks: (count) => typeof count === 'number' } })],
  [answer('GET', ':routes', 200, { json: isObject })],
  [answer('GET', '/openapi.json', 200, { json: { openapi: isText } })],
  [answer('POST', 'loglevel', 204, { body: { level: 'error' } })],
  [failure('POST', 'loglevel', 400, { level: 'loud' })],
  [{ method: 'POST', path: '/write', body: 'm0 v=1', status: 400, json: isAnything }],
];
