// A few rounds of the alert soak; `npm run soak:alerts` runs fifty of each.
import { canMountTmpfs } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { soakAlerts } from './alerts.ts';

const HANDLER_COUNT = 3;
const silent = (): void => undefined;

test(
  'no acknowledged alert is lost and none is sent twice by one process when it is killed at random moments',
  { timeout: 180_000 },
  async () => {
    const soak = await soakAlerts({ load: 'singles', rounds: 5, seed: 7, say: silent });

    expect(soak.rounds).toBe(5);
    expect(soak.alerts).toBeGreaterThan(100);
    expect(soak.deliveries - soak.repeated).toBe(soak.alerts * HANDLER_COUNT);
  },
);

test(
  'nor of five hundred groups that alert in one write, when it is killed right after',
  { timeout: 180_000 },
  async () => {
    const soak = await soakAlerts({ load: 'bursts', rounds: 3, seed: 7, say: silent });

    expect(soak.alerts).toBeGreaterThan(1_500);
    expect(soak.deliveries - soak.repeated).toBe(soak.alerts * HANDLER_COUNT);
  },
);

test.skipIf(!canMountTmpfs())(
  'nor on a full disk, where writes fail whose alerts cannot be stored',
  { timeout: 180_000 },
  async () => {
    const soak = await soakAlerts({ load: 'full disk', rounds: 3, seed: 7, say: silent });

    expect(soak.refused).toBeGreaterThan(0);
    expect(soak.deliveries - soak.repeated).toBe(soak.alerts * HANDLER_COUNT);
  },
);
