// Overrides of the configuration over restarts.
import { afterEach, beforeEach, expect, test } from 'vitest';
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

test('what is stored is merged over the file, and left out when the start is asked to skip it', async () => {
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
