// npm run soak:recording [points] [MiB]: records and replays points, ten million by default, and
// fails if one is missing or the engine takes more memory than the budget.
import { removeDirectory, startTidemark } from '@tidemark/testkit';
import { problemsOf, recordAndReplay } from './recording.ts';

const points = Number(process.argv[2] ?? 10_000_000);
const residentMax = Number(process.argv[3] ?? 512);

const server = await startTidemark({ command: 'engine', args: ['--log-level', 'error'] });
try {
  const result = await recordAndReplay(server, points);
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
  for (const problem of problemsOf(result, residentMax)) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
} finally {
  await server.stop();
  await removeDirectory(server.directory);
}
