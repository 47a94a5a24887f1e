// npm run soak:tsdb [seconds] [small]: 10,000 idle connections, 200 writers, 50 readers, and
// clients that misbehave; with `small`, what a machine of 256 MiB may get, on the profile for it.
import { removeDirectory, startTidemark } from '@tidemark/testkit';

import { problemsOf, putUnderLoad } from './load.ts';

const MEBIBYTE = 1024 * 1024;
const SIZES = {
  usual: {
    memory: 1536 * MEBIBYTE,
    idleConnections: 10_000,
    writers: 200,
    readers: 50,
    misbehaving: 5,
  },
  small: { memory: 256 * MEBIBYTE, idleConnections: 500, writers: 20, readers: 8, misbehaving: 2 },
};
const seconds = Number(process.argv[2] ?? 120);
const isSmall = process.argv[3] === 'small';
const { memory, ...clients } = SIZES[isSmall ? 'small' : 'usual'];

const args = ['--log-level', 'error', ...(isSmall ? ['--profile', 'small'] : [])];
const server = await startTidemark({ command: 'tsdb', args });
try {
  const result = await putUnderLoad({
    url: server.tsdb,
    processId: server.process.pid ?? 0,
    durationMs: seconds * 1000,
    ...clients,
  });
  const { statuses, unanswered, oversized, endless, ...numbers } = result;
  const summary = {
    seconds,
    ...numbers,
    statuses: Object.fromEntries(statuses),
    unanswered: unanswered.length,
    oversized: oversized.length,
    endless: endless.length,
  };
  process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  if (result.idleOpened < clients.idleConnections) {
    process.stdout.write('fewer idle connections than wanted: raise `ulimit -n`\n');
  }
  for (const problem of problemsOf(result, memory)) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
} finally {
  await server.stop();
  await removeDirectory(server.directory);
}
