// A configuration override that broke something: the flag and the variable that start without
// overrides.
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { StartOptions, Tidemark } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

let server: Tidemark | undefined;

afterEach(async () => {
  if (server === undefined) return;
  await server.stop();
  await removeDirectory(server.directory);
});

/** Starts the engine on the directory of the one before, which ends. */
async function restart(options: StartOptions = {}): Promise<void> {
  await server?.stop();
  server = await startTidemark({ command: 'engine', directory: server?.directory, ...options });
}

async function mailHost(): Promise<unknown> {
  const { text } = await send(`${server?.engine}/engine/v1/config/smtp/`);
  const { options } = JSON.parse(text) as { readonly options: Readonly<Record<string, unknown>> };
  return options['host'];
}

test('flag and variable leave stored overrides out for one start, and keep them', async () => {
  await restart();
  const body = JSON.stringify({ set: { host: 'mail.example' } });
  const stored = await send(`${server?.engine}/engine/v1/config/smtp/`, { method: 'POST', body });
  expect(stored.status).toBe(200);
  expect(await mailHost()).toBe('mail.example');

  await restart({ args: ['--skip-config-overrides'] });
  expect(await mailHost()).toBe('localhost');

  await restart({ environment: { TIDEMARK_SKIP_CONFIG_OVERRIDES: 'true' } });
  expect(await mailHost()).toBe('localhost');

  await restart();
  expect(await mailHost()).toBe('mail.example');
});
