// Both services of `tidemark up` with TLS, as in the guide (docs/guide/tls.md), including requests
// between them.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { eventually, removeDirectory, runTidemark, startTidemark } from '@tidemark/testkit';
import { expect, test } from 'vitest';

const CERTIFICATE = fileURLToPath(
  new URL('../../packages/tsdb/src/testdata/localhost.pem', import.meta.url),
);
const TRUSTING = { NODE_EXTRA_CA_CERTS: CERTIFICATE };

test('the database delivers to the engine over TLS', async () => {
  const https = ['database', 'engine'].flatMap((service) => [
    `--${service}-http-https-enabled=true`,
    `--${service}-http-https-certificate=${CERTIFICATE}`,
  ]);
  // Its own statistics are delivered, too.
  const args = [...https, '--database-monitor-store-interval=1s'];
  const server = await startTidemark({ args, environment: TRUSTING });
  const shell = async (...args: string[]): Promise<string> => {
    const printed = await runTidemark(['shell', '--url', server.tsdb, ...args], TRUSTING);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    return printed.stdout;
  };
  try {
    expect([server.tsdb, server.engine].map((url) => new URL(url).protocol)).toEqual([
      'https:',
      'https:',
    ]);
    const { port } = new URL(server.engine);
    await eventually('the subscription', async () => {
      const shown = await shell('--execute', 'SHOW SUBSCRIPTIONS', '--format', 'csv');
      return shown.includes(`https://localhost:${port}`) ? true : undefined;
    });
    await eventually('the delivery', async () => {
      const shown = await shell('--execute', "SHOW STATS FOR 'subscriber'", '--format', 'json');
      const { results } = JSON.parse(shown) as {
        results: { series: { columns: string[]; values: number[][] }[] }[];
      };
      const [total] = results[0]?.series ?? [];
      return Number(total?.values[0]?.[total.columns.indexOf('pointsWritten')]) > 0 || undefined;
    });
    expect(server.errorOutput()).not.toContain('could not be delivered');
    const page = (await (await fetch(`${server.ui}/health`)).json()) as { status: string };
    expect(page.status).toBe('pass');
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
}, 120_000);

test('the guide names the settings of this test', async () => {
  const guide = await readFile(new URL('../../docs/guide/tls.md', import.meta.url), 'utf8');
  for (const word of ['https-enabled', 'https-certificate', 'NODE_EXTRA_CA_CERTS'])
    expect(guide).toContain(word);
});
