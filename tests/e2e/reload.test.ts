// SIGHUP: a running process starts using a renewed certificate and a rotated log.
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';

import {
  eventually,
  hasPrograms,
  makeDirectory,
  removeDirectory,
  run,
  startTidemark,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const CERTIFICATES = new URL('../../packages/tsdb/src/testdata/', import.meta.url);
const OLD = fileURLToPath(new URL('localhost.pem', CERTIFICATES));
const RENEWED = fileURLToPath(new URL('localhost-renewed.pem', CERTIFICATES));

let directory: string;
let server: Tidemark;
let certificate: string;
let accessLog: string;
beforeAll(async () => {
  directory = await makeDirectory();
  certificate = join(directory, 'cert.pem');
  accessLog = join(directory, 'access.log');
  await copyFile(OLD, certificate);
  const settings = join(directory, 'tidemark.toml');
  await writeFile(
    settings,
    `[http]
https-enabled = true
https-certificate = "${certificate}"
access-log-path = "${accessLog}"
`,
  );
  server = await startTidemark({
    command: 'tsdb',
    directory: join(directory, 'data'),
    args: ['--config', settings],
  });
});
afterAll(async () => {
  await server.stop();
  await removeDirectory(directory);
});

/** The name in the certificate that a new connection is shown. */
function shownName(): Promise<string> {
  const { port } = new URL(server.tsdb);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
  });
}

function ping(agent: Agent, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.tsdb}${path}`, { agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    sent.once('error', reject);
    sent.end();
  });
}

test('new connections get the new certificate, old ones go on, and logs go to new files', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  expect(await ping(agent, '/ping')).toBe(204);
  expect(await shownName()).toBe('localhost');

  await copyFile(RENEWED, certificate);
  await rename(accessLog, `${accessLog}.1`);
  server.process.kill('SIGHUP');
  await eventually('the new certificate', async () =>
    (await shownName()) === 'renewed' ? true : undefined,
  );
  expect(await ping(agent, '/status')).toBe(204);
  await eventually('the line in the new file', async () =>
    (await readFile(accessLog, 'utf8').catch(() => '')).includes('GET /status') ? true : undefined,
  );
  expect(await readFile(`${accessLog}.1`, 'utf8')).toContain('"GET /ping" 204');
  agent.destroy();
});

test('a certificate that is broken is in the log, and the last good one stays', async () => {
  await writeFile(certificate, 'nothing of that kind');
  server.process.kill('SIGHUP');
  await eventually('the error in the log', async () =>
    server.errorOutput().includes('reloading failed') ? true : undefined,
  );
  expect(await shownName()).toBe('renewed');
  expect(server.process.exitCode).toBeNull();
});

test.skipIf(!hasPrograms('systemd-analyze'))(
  'the systemd unit has nothing that systemd does not know',
  async () => {
    const unit = fileURLToPath(new URL('../../packaging/tidemark.service', import.meta.url));
    const verified = await run('systemd-analyze', ['verify', unit]);
    // Whether /opt/tidemark exists on this machine is not the question.
    const complaints = verified.stderr.split('\n').filter((line) => line.includes(unit));
    expect(complaints).toEqual([]);
  },
);
