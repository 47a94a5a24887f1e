// Half a minute of `npm run soak:attack`.
import { expect, test } from 'vitest';

import { attack } from './attack.ts';

test(
  'attacked from all sides and killed, the service keeps what it acknowledged and nothing else',
  { timeout: 180_000 },
  async () => {
    const say = (): void => undefined;
    const { finding, counts } = await attack({ seed: 7, durationMs: 30_000, mounts: false, say });

    expect(finding).toBeUndefined();
    for (const name of ['writes acknowledged', 'panels', 'queries of rows', 'DELETE FROM']) {
      expect(counts.get(name) ?? 0, name).toBeGreaterThan(0);
    }
    expect(counts.get('checks of everything')).toBeGreaterThan(1);
  },
);
