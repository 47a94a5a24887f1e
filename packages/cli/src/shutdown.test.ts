// How a process ends after a signal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Ends a process that would otherwise wait forever, with a signal of its own. */
const PATIENCE = { timeout: 20_000, killSignal: 'SIGALRM' } as const;

test('a second signal ends a process one of whose threads never returns', async () => {
  const module = fileURLToPath(new URL('shutdown.ts', import.meta.url));
  const source = `
    import { read } from 'node:fs';
    import { pino } from 'pino';
    import { Shutdown, stopOnSignal } from ${JSON.stringify(module)};
    const log = pino({}, pino.destination({ fd: 1, sync: true }));
    const shutdown = new Shutdown(log);
    shutdown.opened('what never closes', { close: () => new Promise(() => undefined) });
    void stopOnSignal(shutdown, log);
    // A thread of Node's pool waits for what nobody writes.
    read(0, Buffer.alloc(1), () => undefined);
    log.info('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['pipe', 'pipe', 'inherit'],
    ...PATIENCE,
  });
  const exited = once(child, 'exit');

  const said: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push((JSON.parse(line) as { readonly msg: string }).msg);
    if (said.length < 3) child.kill('SIGTERM');
  }

  expect(said).toEqual(['ready', 'stopping', 'second signal: stopping at once']);
  expect(await exited).toEqual([null, 'SIGKILL']);
});
