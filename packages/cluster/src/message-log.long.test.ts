// A coordinator that fails while a part of a log is read.
import { hasPrograms, TestCoordinator } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { NatsCoordinator } from './nats-coordinator.ts';

/** More than the client asks for at once. */
const RECORDS = 250;

test.runIf(hasPrograms('nats-server'))(
  'a part of a log that does not come is told, and what was waited for',
  async () => {
    const server = await TestCoordinator.start();
    const urls = [server.url];
    const coordinator = await NatsCoordinator.open({ urls, login: '', name: 'c', replicas: 1 });
    const { signal } = new AbortController();
    const log = coordinator.points;
    for (let i = 0; i < RECORDS; i++) await log.append(Buffer.from('record'), { signal });
    let count = 0;

    const reading = (async () => {
      for await (const record of log.read({ first: 1, through: RECORDS, signal }))
        if (record.sequence === ++count && count === 1) await server.kill();
    })();

    await expect(reading).rejects.toThrow(
      'the coordinator does not send its records, up to message 250, of TIDEMARK_c_points',
    );
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(RECORDS);
    await expect(coordinator.register.get('leader')).rejects.toThrow(
      'the coordinator does not answer a request to read tidemark.c.register.leader',
    );
    await coordinator.close();
    await server.close();
  },
);
