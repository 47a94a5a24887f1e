// Starts VictoriaMetrics beside the servers of a benchmark. It acknowledges points before they are
// on disk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { eventually, freePort, makeDirectory, removeDirectory } from '@tidemark/testkit';

export async function startVictoriaMetrics(program: string): Promise<{
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}> {
  const directory = await makeDirectory();
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `-storageDataPath=${directory}`,
      `-httpListenAddr=${new URL(url).host}`,
      // The times of the benchmarks' lines are years ago.
      '-retentionPeriod=100y',
    ],
    { stdio: 'ignore' },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await removeDirectory(directory);
  };
  await eventually(
    'VictoriaMetrics',
    async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok === true || undefined,
  );
  return { name: 'VictoriaMetrics', url, pid: child.pid ?? 0, stop };
}
