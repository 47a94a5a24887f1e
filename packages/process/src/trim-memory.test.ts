// Free memory between buffers that are in use goes back to the system.
import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

// In a process of its own, with the settings of the launcher: buffers of this size come from the
// heap of the C library.
const PROCESS = `
  import { HeapWatch } from ${JSON.stringify(new URL('heap-watch.ts', import.meta.url).href)};
  const residentMiB = () => process.memoryUsage.rss() / (1 << 20);
  let buffers = Array.from({ length: 4000 }, () => Buffer.allocUnsafeSlow(60_000).fill(1));
  const before = residentMiB();
  const kept = buffers.filter((_, i) => i % 50 === 0);
  buffers = undefined;
  new HeapWatch(1 << 20).release();
  const end = Date.now() + 10_000;
  while (residentMiB() > before - 150 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  process.stdout.write(String(before - residentMiB() > 150 && kept.length > 0));
`;

test('a release gives back what lies between buffers that are in use', () => {
  const output = execFileSync(
    process.execPath,
    [
      '--expose-gc',
      '--conditions=source',
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      PROCESS,
    ],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '524288' },
    },
  );

  expect(output).toBe('true');
});
