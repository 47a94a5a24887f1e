// collectd itself sends its values, plain and encrypted; statements read them back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  eventually,
  freePort,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  startTidemark,
} from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.skipIf(!hasPrograms('collectd')).each(['none', 'sign', 'encrypt'] as const)(
  'values of collectd arrive with security level %s',
  async (level) => {
    const directory = await makeDirectory();
    cleanups.push(() => removeDirectory(directory));
    const port = await freePort('udp');
    const authFile = join(directory, 'auth_file');
    await writeFile(authFile, 'sensor: a secret\n');
    const settings = join(directory, 'tidemark.toml');
    await writeFile(
      settings,
      `[[collectd]]
enabled = true
bind-address = "127.0.0.1:${port}"
database = "collectd"
batch-timeout = "200ms"
security-level = "${level}"
auth-file = "${authFile}"
`,
    );
    const server = await startTidemark({
      command: 'tsdb',
      directory: join(directory, 'data'),
      args: ['--config', settings],
    });
    cleanups.push(() => server.stop());
    const security =
      level === 'none'
        ? ''
        : `SecurityLevel "${level === 'sign' ? 'Sign' : 'Encrypt'}"
           Username "sensor"
           Password "a secret"`;
    const peerSettings = join(directory, 'collectd.conf');
    await writeFile(
      peerSettings,
      `Hostname "tide.example"
FQDNLookup false
BaseDir "${directory}"
PIDFile "${directory}/collectd.pid"
Interval 1
LoadPlugin load
# A packet is sent when it is full.
LoadPlugin cpu
LoadPlugin memory
LoadPlugin interface
LoadPlugin network
<Plugin network>
  <Server "127.0.0.1" "${port}">
    ${security}
  </Server>
  MaxPacketSize 1024
</Plugin>
`,
    );
    const collectd = spawn('collectd', ['-f', '-C', peerSettings], { stdio: 'ignore' });
    const ended = once(collectd, 'exit');
    cleanups.push(async () => {
      collectd.kill('SIGTERM');
      await ended;
    });

    const series = await eventually('the first values', async () => {
      const found = await query(server.tsdb, 'SELECT * FROM load_shortterm LIMIT 1', 'collectd');
      return found[0];
    });

    expect(series.columns).toEqual(['time', 'host', 'type', 'value']);
    const [time, host, type, value] = series.values?.[0] ?? [];
    expect([host, type]).toEqual(['tide.example', 'load']);
    expect(value).toBeGreaterThanOrEqual(0);
    expect(Math.abs(Date.parse(String(time)) - Date.now())).toBeLessThan(60_000);
  },
  40_000,
);
