// Two rounds on a disk of 12 MiB; `npm run soak:disk-full` runs twenty on a larger one.
import { expect, test } from 'vitest';

import { seededRandom } from '@tidemark/testkit';
import { soakFullDisk } from './disk-full.ts';

test(
  'on a full disk the service starts, keeps what it acknowledged and frees space by every statement that drops',
  { timeout: 120_000 },
  async () => {
    const random = seededRandom(4);
    const result = await soakFullDisk({
      rounds: 2,
      diskMebibytes: 12,
      mounts: false,
      random,
      say: () => undefined,
    });

    expect(result.rounds).toBe(2);
    expect(result.kills).toBe(1);
    expect(result.refused).toBeGreaterThan(9);
  },
);
