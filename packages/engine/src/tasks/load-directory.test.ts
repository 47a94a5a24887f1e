// The load directory: tasks, templates and handlers defined by files that an engine reads and
// watches.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

let engine: TestEngine;
let watch: object;

const put = (name: string, text: string): void => {
  const path = join(engine.directory, 'load', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const get = (path: string): ReturnType<TestEngine['call']> => engine.call('GET', path);
const reload = (): ReturnType<TestEngine['call']> => engine.call('POST', '/engine/v1/load/reload');

/** Waits until a task is there. */
const defined = (id: string): Promise<true> =>
  eventually(`task ${id}`, async () =>
    (await get(`/engine/v1/tasks/${id}`)).status === 200 ? true : undefined,
  );

beforeEach(async () => {
  engine = new TestEngine();
  watch = { enabled: true, dir: join(engine.directory, 'load') };
  put('templates/tpl.tick', 'dbrp "d"."r"\nvar field string\nstream|from()|httpOut(field)');
  put('tasks/plain.tick', 'dbrp "d"."r"\nstream|from()|httpOut(\'out\')');
  put('tasks/made.json', '{"template-id":"tpl","vars":{"field":{"type":"string","value":"x"}}}');
  put('handlers/h.json', '{"topic":"t","id":"h","kind":"tcp","options":{"address":"127.0.0.1:9"}}');
});

afterEach(() => engine.close());

test('definitions in its files exist and run', async () => {
  await engine.start({ load: watch });

  const { json } = await get('/engine/v1/tasks?fields=executing&fields=error');

  expect(json.tasks.map(({ id, executing, error }: any) => ({ id, executing, error }))).toEqual([
    { id: 'made', executing: true, error: '' },
    { id: 'plain', executing: true, error: '' },
  ]);
  expect((await get('/engine/v1preview/alerts/topics/t/handlers/h')).status).toBe(200);
});

test('reading again follows changed and deleted files', async () => {
  await engine.start({ load: watch });
  put('tasks/plain.tick', 'dbrp "d"."r"\nstream|from()|httpOut(\'other\')');
  rmSync(join(engine.directory, 'load/tasks/made.json'));
  rmSync(join(engine.directory, 'load/handlers/h.json'));

  await reload();

  expect((await get('/engine/v1/tasks/plain/other')).status).toBe(200);
  expect((await get('/engine/v1/tasks/made')).status).toBe(404);
  expect((await get('/engine/v1preview/alerts/topics/t/handlers/h')).status).toBe(404);
});

test('handlers and tasks are read from YAML too', async () => {
  await engine.start({ load: watch });
  put(
    'handlers/y.yaml',
    'topic: t\nid: y\nactions:\n  - kind: tcp\n    options:\n      address: "127.0.0.1:9"\n',
  );
  put('tasks/yaml.yml', 'template-id: tpl\nvars:\n  field: {type: string, value: y}\n');
  put('templates/above.tick', 'dbrp "d"."r"\nvar n int\nstream|from().where(lambda: "v" > n)');
  put(
    'tasks/long.yml',
    'template-id: above\nvars:\n  n: {type: int, value: 9007199254740993}\n  f: {type: float, value: 18014398509481984}\n',
  );

  expect((await reload()).status).toBe(204);

  const { json } = await get('/engine/v1preview/alerts/topics/t/handlers/y');
  expect(json.actions).toEqual([{ kind: 'tcp', options: { address: '127.0.0.1:9' } }]);
  expect((await get('/engine/v1/tasks/yaml/y')).status).toBe(200);
  const long = await get('/engine/v1/tasks/long?fields=vars');
  expect(long.bytes.toString('utf8')).toMatch(/"type": ?"int",\s*"value": ?9007199254740993\b/);
  expect(long.json.vars.f.value).toBe(18_014_398_509_481_984);
});

test('files that change are noticed; tasks of others are not restarted', async () => {
  await engine.start({ load: { ...watch, 'watch-interval': '20ms' } });
  const enabledAt = async (): Promise<unknown> =>
    (await get('/engine/v1/tasks/plain')).json['last-enabled'];
  const before = await enabledAt();

  put('tasks/new.tick', 'dbrp "d"."r"\nstream|from()|httpOut(\'out\')');

  await defined('new');
  expect(await enabledAt()).toBe(before);
});

test('a broken file is named, deletes nothing and stops no other', async () => {
  await engine.start({ load: watch });
  put('tasks/plain.tick', 'stream|');
  put('tasks/new.tick', 'dbrp "d"."r"\nstream|from()|httpOut(\'out\')');

  const { status, json } = await reload();

  expect(status).toBe(400);
  expect(json.error).toContain('plain.tick');
  expect((await get('/engine/v1/tasks/new')).json.executing).toBe(true);
  expect((await get('/engine/v1/tasks/plain/out')).status).toBe(200);
});

test('a file that is broken at the start is logged and counted, and the engine starts with the others', async () => {
  put('tasks/broken.tick', 'stream|');
  put('handlers/broken.yml', 'topic: [');
  await engine.start({ load: watch });

  const logged = engine.log.filter((line) => line.startsWith('failed to load file'));
  expect(logged).toHaveLength(2);
  expect(logged.join()).toMatch(/broken\.tick.*broken\.yml/);
  expect((await get('/engine/v1/tasks/plain')).json.executing).toBe(true);
  const { bytes } = await get('/metrics');
  expect(bytes.toString()).toMatch(/load_errors\S* 2\n/);
});

test('folders that are empty at the next start take away what they defined', async () => {
  await engine.start({ load: watch });
  await engine.stop();
  for (const kind of ['templates', 'tasks', 'handlers']) {
    rmSync(join(engine.directory, 'load', kind), { recursive: true });
    mkdirSync(join(engine.directory, 'load', kind));
  }
  await engine.start({ load: watch });

  expect((await get('/engine/v1/tasks')).json.tasks).toEqual([]);
});

test.each(['load', 'load/tasks'])(
  '%s that is absent deletes nothing, and is named',
  async (name) => {
    await engine.start({ load: watch });
    await engine.stop();
    rmSync(join(engine.directory, name), { recursive: true });
    await engine.start({ load: watch });

    const { json } = await get('/engine/v1/tasks?fields=executing');
    expect(json.tasks.map(({ id }: any) => id)).toEqual(['made', 'plain']);
    const reason = `${join(engine.directory, name)} is missing: definitions from its files were not changed or deleted`;
    expect(engine.log.join('\n')).toContain(reason);
    expect(await reload()).toMatchObject({ status: 400, json: { error: reason } });
    const { bytes } = await get('/metrics');
    expect(bytes.toString()).toMatch(/load_errors\S* 1\n/);
  },
);

test('a directory that cannot be read for a while ends nothing and is read again afterwards', async () => {
  const handlers = join(engine.directory, 'load/handlers');
  rmSync(handlers, { recursive: true });
  await engine.start({ load: { ...watch, 'watch-interval': '20ms' } });
  const failures = (): readonly string[] =>
    engine.log.filter((line) => line.startsWith('failed to read the load directory'));
  put('handlers', 'no directory');
  await eventually('the error', async () => (failures().length > 0 ? true : undefined));
  expect((await get('/engine/v1/tasks/plain')).json.executing).toBe(true);

  rmSync(handlers);
  put('tasks/new.tick', 'dbrp "d"."r"\nstream|from()|httpOut(\'out\')');

  await defined('new');
  expect(failures()).toHaveLength(1);
});
