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
