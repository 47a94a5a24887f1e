import { expect, test } from 'vitest';
import { openApiDocument } from './openapi.ts';

type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { operationId: string; tags: string[]; parameters: unknown[] }>>
    >
  >;
};

test('every route is a path with its methods, parameters in braces', () => {
  const { paths } = openApiDocument({
    '/engine/v1/tasks': ['GET', 'HEAD', 'POST'],
    '/engine/v1/tasks/:id/*': ['GET'],
    '/engine/v1/::routes': ['GET'],
    '/engine/v1preview/alerts/topics/:topic': ['DELETE'],
    '/metrics': ['GET'],
  }) as Document;

  expect(Object.entries(paths).map(([path, item]) => [path, ...Object.keys(item)])).toEqual([
    ['/engine/v1/tasks', 'get', 'head', 'post'],
    ['/engine/v1/tasks/{id}/{rest}', 'get'],
    ['/engine/v1/:routes', 'get'],
    ['/engine/v1preview/alerts/topics/{topic}', 'delete'],
    ['/metrics', 'get'],
  ]);
  const output = paths['/engine/v1/tasks/{id}/{rest}']?.['get'];
  expect(output).toMatchObject({
    operationId: 'get_engine_v1_tasks_id_rest',
    tags: ['tasks'],
    parameters: [
      { name: 'id', in: 'path', required: true },
      { name: 'rest', in: 'path', required: true },
      { name: 'replay-id', in: 'query', required: false },
    ],
  });
  expect(paths['/metrics']?.['get']?.tags).toEqual(['service']);
});

test('the query of a tap is described, that of its path too', () => {
  const { paths } = openApiDocument({ '/engine/v1/taps/:id/:node': ['GET', 'HEAD'] }) as Document;

  const tap = paths['/engine/v1/taps/{id}/{node}']?.['get'];
  expect(tap?.parameters).toMatchObject([
    { name: 'id', in: 'path', required: true },
    { name: 'node', in: 'path', required: true },
    { name: 'replay-id', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'group', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'explain', in: 'query', schema: { type: 'boolean', default: true } },
  ]);
});

test.each([
  '/engine/v1/tasks',
  '/engine/v1/recordings',
  '/engine/v1/service-tests',
  '/engine/v1preview/alerts/topics/:topic/handlers',
])('the query of the list %s is described', (pattern) => {
  const { paths } = openApiDocument({ [pattern]: ['GET'] }) as Document;

  expect(Object.values(paths)[0]?.['get']?.parameters).toEqual(
    expect.arrayContaining(
      ['pattern', 'fields', 'offset', 'limit'].map((name) =>
        expect.objectContaining({ name, in: 'query', required: false }),
      ),
    ),
  );
});

test('bodies of resources have schemas, and every reference leads somewhere', () => {
  const document = openApiDocument({
    '/engine/v1/tasks': ['GET', 'POST'],
    '/engine/v1/tasks/:id': ['GET', 'PATCH', 'DELETE'],
    '/engine/v1/replays/': ['POST'],
    '/engine/v1/config/:section/:element': ['POST'],
    '/engine/v1preview/alerts/topics/:topic/handlers': ['POST'],
  }) as any;
  const sent = (path: string, method: string): unknown =>
    document.paths[path][method].requestBody.content['application/json'].schema.$ref;
  const answered = (path: string, method: string): unknown =>
    document.paths[path][method].responses['2XX'].content?.['application/json'].schema;
  const task = { $ref: '#/components/schemas/Task' };

  expect(sent('/engine/v1/tasks', 'post')).toBe('#/components/schemas/TaskInput');
  expect(sent('/engine/v1/tasks/{id}', 'patch')).toBe('#/components/schemas/TaskChange');
  expect(sent('/engine/v1/replays/', 'post')).toBe('#/components/schemas/ReplayInput');
  expect(sent('/engine/v1/config/{section}/{element}', 'post')).toMatch(/ConfigChange$/);
  expect(sent('/engine/v1preview/alerts/topics/{topic}/handlers', 'post')).toMatch(/HandlerInput$/);
  expect(answered('/engine/v1/tasks', 'get')).toMatchObject({
    properties: { tasks: { items: task } },
  });
  expect(answered('/engine/v1/tasks/{id}', 'get')).toEqual(task);
  expect(answered('/engine/v1/tasks/{id}', 'delete')).toBeUndefined();
  const references = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
  const names = Object.keys(document.components.schemas);
  for (const one of references) expect(names).toContain(one.split('/').at(-1));
});

test.each([
  ['POST', '/engine/v1/recordings/stream', 'StreamRecordingInput', 'Recording'],
  ['POST', '/engine/v1/recordings/batch', 'BatchRecordingInput', 'Recording'],
  ['POST', '/engine/v1/recordings/query', 'QueryRecordingInput', 'Recording'],
  ['POST', '/engine/v1/replays/batch', 'BatchReplayInput', 'Replay'],
  ['POST', '/engine/v1/replays/query', 'QueryReplayInput', 'Replay'],
  ['POST', '/engine/v1/config/:section', 'ConfigChange', 'ConfigSection'],
  ['POST', '/engine/v1/config/:section/*', 'ConfigChange', 'ConfigSection'],
  ['POST', '/engine/v1/service-tests/:service', undefined, 'ServiceTestResult'],
  ['POST', '/engine/v1/storage/stores/:store', 'StorageAction', undefined],
  ['GET', '/engine/v1/config', undefined, 'Config'],
  ['GET', '/engine/v1/config/:section/*', undefined, 'ConfigElement'],
  ['GET', '/engine/v1/service-tests', undefined, 'ServiceTests'],
  ['GET', '/engine/v1preview/alerts/topics/:topic', undefined, 'Topic'],
  ['GET', '/engine/v1preview/alerts/topics/:topic/events/*', undefined, 'Event'],
])('%s %s takes %s and answers %s', (method, pattern, sent, answered) => {
  const { paths } = openApiDocument({ [pattern]: [method] }) as any;
  const [operation] = Object.values<any>(Object.values<any>(paths)[0]);
  const nameOf = (content: any): unknown =>
    content?.['application/json'].schema?.$ref?.replace('#/components/schemas/', '');

  expect(nameOf(operation.requestBody?.content)).toBe(sent);
  expect(nameOf(operation.responses['2XX'].content)).toBe(answered);
});
