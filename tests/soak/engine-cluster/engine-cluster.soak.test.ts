// The short form of `npm run soak:engine-cluster`.
import { hasPrograms } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { soakCluster } from './soak.ts';

test.runIf(hasPrograms('nats-server'))(
  'a cluster is as a single engine when its leader is killed, one is stopped for a while, and all are restarted one after the other',
  async () => {
    const said: string[] = [];

    const result = await soakCluster({
      rounds: 3,
      actions: ['kill', 'stop', 'roll'],
      tasks: 5,
      pointsPerSecond: 500,
      seed: 1,
      say: (line) => void said.push(line),
    });

    expect(result.problems, said.join('\n')).toEqual([]);
    expect(result.events).toBeGreaterThan(0);
  },
  180_000,
);
