// A service that starts with a long log: it is alive at once, and a ping returns when it is ready.
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  eventually,
  freePort,
  makeDirectory,
  query,
  removeDirectory,
  send,
  startTidemark,
  write,
} from '@tidemark/testkit';

const SERIES = 300_000;
const BODY_LINES = 50_000;

let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
  const server = await startTidemark({ command: 'tsdb', directory });
  await query(server.tsdb, 'CREATE DATABASE d');
  for (let first = 0; first < SERIES; first += BODY_LINES) {
    const lines = Array.from({ length: BODY_LINES }, (_, i) => `m,id=${first + i} v=${i} 1`);
    await write(server.tsdb, 'd', lines.join('\n'));
  }
  await server.kill();
}, 60_000);

afterAll(() => removeDirectory(directory));

test.each(['/ping', '/status'])(
  '%s waits for the log to be read, during which the service is alive and not ready',
  async (path) => {
    const bind = `127.0.0.1:${await freePort()}`;
    const url = `http://${bind}`;
    const starting = startTidemark({ command: 'tsdb', directory, args: ['--bind', bind] });
    try {
      const alive = await eventually('the listener', () =>
        send(`${url}/health/live`).catch(() => undefined),
      );
      const health = await send(`${url}/health`);
      const ping = await send(`${url}${path}`);
      const created = await send(`${url}/query?q=CREATE+DATABASE+e`, { method: 'POST' });

      expect([alive.status, JSON.parse(alive.text)]).toMatchObject([200, { status: 'pass' }]);
      expect([health.status, JSON.parse(health.text)]).toMatchObject([
        503,
        { status: 'fail', message: 'recovering' },
      ]);
      expect([ping.status, ping.text]).toEqual([204, '']);
      expect(created.status).toBe(200);
      const [found] = await query(url, 'SELECT count(v) FROM m', 'd');
      expect(found?.values).toEqual([['1970-01-01T00:00:00Z', SERIES]]);
    } finally {
      await (await starting).kill();
    }
  },
);
