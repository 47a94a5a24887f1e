import { expect, test } from 'vitest';

import { Statistics } from '../stats/statistics.ts';
import { metricsText } from './metrics.ts';

test('instances of a module may have different tags', async () => {
  const statistics = new Statistics();
  statistics.add(() => [
    { name: 'subscriber', tags: {}, values: { pointsWritten: 3 } },
    {
      name: 'subscriber',
      tags: { database: 'd', destination: 'http://h:1' },
      values: { pointsWritten: 2 },
    },
  ]);

  const { user, system } = process.cpuUsage();
  const { text } = await metricsText(statistics);

  // Of the whole process, what it used before the first request too.
  const seconds = /^process_cpu_seconds_total ([\d.]+)$/m.exec(text)?.[1];
  expect(Number(seconds)).toBeGreaterThanOrEqual((user + system) / 1e6);
  expect(text).toContain('tidemark_tsdb_subscriber_points_written 3');
  expect(text).toContain(
    'tidemark_tsdb_subscriber_points_written{database="d",destination="http://h:1"} 2',
  );
  expect(text).toContain('# TYPE process_cpu_seconds_total counter');
});
