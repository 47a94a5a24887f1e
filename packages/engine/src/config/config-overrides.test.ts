// Overrides of the configuration over restarts.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Metadata } from '../store/metadata.ts';
import type { OverrideRecord } from './override-change.ts';
import { TestEngine } from '@tidemark/testkit/engine';

const FILE = { smtp: { port: 2525, from: 'a@b' } };

let engine: TestEngine;

beforeEach(async () => {
  engine = new TestEngine();
  await engine.start(FILE);
});

afterEach(() => engine.close());

const options = async (): Promise<{ host: unknown; port: unknown }> => {
  const { host, port } = (await engine.call('GET', '/engine/v1/config/smtp/')).json.options;
  return { host, port };
};

test('stored overrides are merged over the file, and skipped when the start asks for it', async () => {
  const set = { set: { host: 'mail' } };
  expect((await engine.call('POST', '/engine/v1/config/smtp/', set)).status).toBe(200);
  expect(await options()).toEqual({ host: 'mail', port: 2525 });

  await engine.stop();
  await engine.start({ ...FILE, 'skip-config-overrides': true });
  expect(await options()).toEqual({ host: 'localhost', port: 2525 });

  await engine.stop();
  await engine.start(FILE, { skipConfigOverrides: true });
  expect(await options()).toEqual({ host: 'localhost', port: 2525 });

  await engine.stop();
  await engine.start({ smtp: { ...FILE.smtp, port: 26, host: 'of-the-file' } });
  expect(await options()).toEqual({ host: 'mail', port: 26 });
});

test('sections say on request what their options mean and what of them was set', async () => {
  await engine.call('POST', '/engine/v1/config/smtp/', { set: { port: 26, password: 'pw' } });
  await engine.call('POST', '/engine/v1/config/httppost', { add: { endpoint: 'hook' } });

  const { json } = await engine.call('GET', '/engine/v1/config?describe=true');

  const [smtp] = json.sections.smtp.elements;
  expect(smtp).toMatchObject({ element: '', isAdded: false, overridden: ['password', 'port'] });
  expect(smtp.options.password).toBe(true);
  expect(json.sections.smtp.description).toMatchObject({
    elementKey: '',
    options: {
      port: { type: 'integer', default: 25, isSecret: false },
      password: { default: '', isSecret: true },
    },
  });
  expect(json.sections.httppost.elements).toMatchObject([
    { element: 'example', isAdded: false, overridden: [] },
    { element: 'hook', isAdded: true, overridden: [] },
  ]);
  expect(json.sections.httppost.description.elementKey).toBe('endpoint');
  expect((await engine.call('GET', '/engine/v1/config')).json.sections.smtp).toEqual({
    link: { rel: 'self', href: '/engine/v1/config/smtp' },
    elements: [{ link: smtp.link, options: smtp.options, redacted: smtp.redacted }],
  });
});

describe('what is stored and cannot be used at the start', () => {
  const store = async (...records: OverrideRecord[]): Promise<void> => {
    await engine.stop();
    const metadata = await Metadata.open(engine.directory);
    const table = metadata.table<OverrideRecord>('overrides');
    for (const record of records) await table.put(`${record.section}/${record.element}`, record);
    await metadata.close();
  };
  const warnings = (): string[] =>
    engine.log.filter((line) => line.startsWith('stored override is not used'));
  const smtp = (given: OverrideRecord['options']): OverrideRecord => ({
    section: 'smtp',
    element: '',
    isAdded: false,
    options: given,
  });

  test('is set aside option by option, with a warning, until its element is changed', async () => {
    await store(smtp({ host: 'mail', port: -1, 'no-such': 1 }));

    await engine.start(FILE);
    expect(await options()).toEqual({ host: 'mail', port: 2525 });
    expect(warnings()).toEqual([
      expect.stringContaining('"option":"port","err":"expected an integer'),
      expect.stringContaining('"option":"no-such","err":"there is no such option"'),
    ]);

    // A change of another section leaves it stored.
    await engine.call('POST', '/engine/v1/config/teams/', { set: { global: true } });
    engine.log.length = 0;
    await engine.stop();
    await engine.start(FILE);
    expect(warnings()).toHaveLength(2);

    await engine.call('POST', '/engine/v1/config/smtp/', { set: { port: 26 } });
    engine.log.length = 0;
    await engine.stop();
    await engine.start(FILE);
    expect(await options()).toEqual({ host: 'mail', port: 26 });
    expect(warnings()).toEqual([]);
  });

  test('is set aside as a whole where the section would not be valid', async () => {
    await store(smtp({ host: '' }));
    await engine.start(FILE);
    expect(await options()).toEqual({ host: 'localhost', port: 2525 });
    expect(warnings()).toEqual([expect.stringContaining('host cannot be empty')]);
  });

  test('is set aside where it cannot be applied', async () => {
    const cluster = { section: 'tsdb', element: 'x', isAdded: true } as const;
    await store({ ...cluster, options: { urls: ['http://127.0.0.1:1'], password: 'env:NONE' } });
    await engine.start(FILE);
    expect((await engine.call('GET', '/engine/v1/config/tsdb')).json.elements).toEqual([]);
    expect(warnings()).toEqual([expect.stringContaining('"element":"x"')]);
  });

  test('is used where only all records of a section together are valid', async () => {
    const urls = ['http://127.0.0.1:1'];
    const file = { tsdb: [{ name: 'a', urls, default: true }] };
    await store(
      { section: 'tsdb', element: '0', isAdded: true, options: { urls, default: true } },
      { section: 'tsdb', element: 'a', isAdded: false, options: { default: false } },
    );
    await engine.start(file);
    expect(warnings()).toEqual([]);
    expect((await engine.call('GET', '/engine/v1/config/tsdb')).json.elements).toHaveLength(2);
  });
});

test('a value that a file could not have is refused, and the engine goes on', async () => {
  await engine.stop();
  const file = { tsdb: [{ name: 'default', urls: ['http://127.0.0.1:1'] }] };
  await engine.start(file);
  for (const timeout of ['-1s', -1]) {
    const { status, json } = await engine.call('POST', '/engine/v1/config/tsdb/default', {
      set: { timeout },
    });
    expect(status).toBe(400);
    expect(json.error).toContain('cannot set option timeout: expected a duration');
  }
  await engine.stop();
  await engine.start(file);
  const { json } = await engine.call('GET', '/engine/v1/config/tsdb/default');
  expect(json.options.timeout).toBe('0s');
});

test('a duration of more nanoseconds than JSON counts exactly is kept', async () => {
  const set = '{"set":{"idle-timeout":9223372036854775807}}';
  expect((await engine.call('POST', '/engine/v1/config/smtp/', set)).status).toBe(200);
  await engine.stop();
  await engine.start(FILE);
  const { json } = await engine.call('GET', '/engine/v1/config/smtp/');
  expect(json.options['idle-timeout']).toBe('2562047h47m16.854775807s');
});
