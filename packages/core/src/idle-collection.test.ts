// Memory is given back in the first idle interval after work.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { IdleWatch } from './idle-collection.ts';

test('collects once after work, and not before there was any', () => {
  const watch = new IdleWatch();
  const utilizations = [0, 0.01, 0.5, 0.9, 0.05, 0.01, 0, 0, 0.2, 0.001];

  expect(utilizations.map((utilization) => watch.isDue(utilization))).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
    false,
    true,
  ]);
});

// In a process of its own: the thread of a test is never idle.
const PROCESS = `
  import { collectWhenIdle } from ${JSON.stringify(new URL('idle-collection.ts', import.meta.url).href)};
  const registry = new FinalizationRegistry(() => process.stdout.write('collected'));
  const abandon = () => registry.register({}, undefined);
  abandon();
  collectWhenIdle(200);
  const busyUntil = performance.now() + 400;
  while (performance.now() < busyUntil);
  setTimeout(() => {}, 15_000);
`;

test('what nobody holds any more goes when the thread has nothing to do', async () => {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', PROCESS],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill();

  expect(chunk.toString()).toBe('collected');
});
