import { expect, test } from 'vitest';

import { killRounds } from './one-line-writes.ts';

test('every acknowledged line of 256 clients is found after the service was killed', async () => {
  const lines: string[] = [];
  await killRounds({ rounds: 3, seed: 1, clients: 256, log: (line) => lines.push(line) });

  expect(lines).toHaveLength(3);
}, 240_000);
