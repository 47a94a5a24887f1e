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

  const { text } = await metricsText(statistics);

  expect(text).toContain('tidemark_tsdb_subscriber_points_written 3');
  expect(text).toContain(
    'tidemark_tsdb_subscriber_points_written{database="d",destination="http://h:1"} 2',
  );
  expect(text).toContain('# TYPE process_cpu_seconds_total counter');
});
