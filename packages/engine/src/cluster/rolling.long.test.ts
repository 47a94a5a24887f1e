// A rolling restart of all instances while points arrive: no acknowledged point is lost, and writes
// continue to be acknowledged.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { expect, test } from 'vitest';

/** Without an answer; a restart of a process in the same thread as all others takes its time. */
const GAP_MS_MAX = 10_000;

test.runIf(hasPrograms('nats-server'))(
  'a rolling restart loses no point, and repeats only what was under way',
  async () => {
    const cluster = await TestCluster.open();
    try {
      const [a, b] = [await cluster.start(), await cluster.start()];
      await a.engine.startTask('counting', COUNTING);
      let asked = b;
      let isEnded = false;
      let written = 0;
      let repeated = 0;
      let gapMs = 0;
      const writing = (async () => {
        let begun = performance.now();
        while (!isEnded) {
          const line = `m v=1 ${1_700_000_000 + written}000000000`;
          const { status } = await asked.engine.call('POST', '/engine/v1/write?db=d&rp=r', line);
          // Requests in progress when the leader ended are repeated, as the answer asks.
          if (status === 204) written++;
          else repeated++;
          if (status !== 204) continue;
          gapMs = Math.max(gapMs, performance.now() - begun);
          begun = performance.now();
        }
      })();

      for (const instance of [a, b]) {
        asked = instance === a ? b : a;
        expect((await cluster.drain(asked, instance.engine.url)).status).toBe(204);
        // It answers the requests that it received before.
        const before = written;
        await eventually('two writes', async () => (written >= before + 2 ? true : undefined));
        await cluster.restart(instance);
      }
      isEnded = true;
      await writing;

      // Tasks are given later what was taken while no instance led.
      const counted = await eventually('all points', async () => {
        const count = await countedBy(a.engine, 'counting');
        return count >= written ? count : undefined;
      });
      expect(counted).toBeGreaterThanOrEqual(written);
      expect(counted).toBeLessThanOrEqual(written + repeated);
      expect(repeated).toBeLessThan(5);
      expect(written).toBeGreaterThan(10);
      expect(gapMs).toBeLessThan(GAP_MS_MAX);
    } finally {
      await cluster.close();
    }
  },
  90_000,
);
