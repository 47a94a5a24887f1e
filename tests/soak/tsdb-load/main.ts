// npm run soak:tsdb [seconds]: 10,000 idle connections, 200 writers, 50 readers, and clients that misbehave.
import { removeDirectory, startTidemark } from '@tidemark/testkit';

import { problemsOf, putUnderLoad } from './load.ts';

const MEMORY_BUDGET_BYTES = 1536 * 1024 * 1024;
const seconds = Number(process.argv[2] ?? 120);

const server = await startTidemark({ command: 'tsdb', args: ['--log-level', 'error'] });
try {
  const result = await putUnderLoad({
    url: server.tsdb,
    processId: server.process.pid ?? 0,
    durationMs: seconds * 1000,
    idleConnections: 10_000,
    writers: 200,
    readers: 50,
    misbehaving: 5,
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
  if (result.idleOpened < 10_000) {
    process.stdout.write('fewer idle connections than wanted: raise `ulimit -n`\n');
  }
  for (const problem of problemsOf(result, MEMORY_BUDGET_BYTES)) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
} finally {
  await server.stop();
  await removeDirectory(server.directory);
}
