// Five rounds of the alert soak; `npm run soak:alerts` runs fifty.
import { expect, test } from 'vitest';

import { soakAlerts } from './alerts.ts';

test(
  'no acknowledged alert is lost and none is sent twice by one process when it is killed at random moments',
  { timeout: 180_000 },
  async () => {
    const { rounds, alerts, deliveries, repeated } = await soakAlerts(5, 7, () => undefined);

    expect(rounds).toBe(5);
    expect(alerts).toBeGreaterThan(100);
    expect(deliveries - repeated).toBe(alerts * 3);
  },
);
