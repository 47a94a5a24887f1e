import { RequestMetrics } from '@tidemark/core';
import { metricProblems } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { METRIC_PREFIX } from '../stats/metric-table.ts';
import { Statistics } from '../stats/statistics.ts';
import { startTestService } from '../testing.ts';
import { metricsText } from './metrics.ts';

const requests = (): RequestMetrics => new RequestMetrics(METRIC_PREFIX, { queries: 'Q.' });

test('instances of a module may have different tags, and their sum is left out', async () => {
  const statistics = new Statistics();
  statistics.add(() => [
    { name: 'subscriber', tags: {}, values: { pointsWritten: 2, createFailures: 1 } },
    {
      name: 'subscriber',
      tags: { database: 'd', destination: 'http://h:1' },
      values: { pointsWritten: 2 },
    },
  ]);

  const { user, system } = process.cpuUsage();
  const { text } = await metricsText(statistics, requests());

  // Counts the whole process, including the time before the first request.
  const seconds = /^process_cpu_seconds_total ([\d.]+)$/m.exec(text)?.[1];
  expect(Number(seconds)).toBeGreaterThanOrEqual((user + system) / 1e6);
  expect(text).toContain('tidemark_tsdb_subscriber_create_failures_total 1');
  expect(text).not.toMatch(/^tidemark_tsdb_subscriber_points_written_total 2$/m);
  expect(text).toContain(
    'tidemark_tsdb_subscriber_points_written_total{database="d",destination="http://h:1"} 2',
  );
  expect(text).toContain('# TYPE process_cpu_seconds_total counter');
});

test('the page of a service keeps the conventions and tells requests by endpoint and time', async () => {
  const service = await startTestService({
    sections: {
      udp: [{ enabled: true, 'bind-address': '127.0.0.1:0', database: 'd' }],
      graphite: [{ enabled: true, 'bind-address': '127.0.0.1:0' }],
      opentsdb: [{ enabled: true, 'bind-address': '127.0.0.1:0' }],
    },
  });
  try {
    await service.query('CREATE DATABASE d', {}, { method: 'POST' });
    await service.query(
      `CREATE SUBSCRIPTION s ON d.autogen DESTINATIONS ALL 'http://127.0.0.1:1'`,
      {},
      { method: 'POST' },
    );
    await service.write('m v=1 1', { db: 'd' });
    await service.write('m v=', { db: 'd' });
    await service.get('/nothing-like-this');

    const { text, headers } = await service.get('/metrics');

    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(metricProblems(text, 'tidemark_tsdb_')).toEqual([]);
    for (const [labels, count] of [
      ['method="POST",endpoint="/write",status="204"', 1],
      ['method="POST",endpoint="/write",status="400"', 1],
      ['method="POST",endpoint="/query",status="200"', 2],
      ['method="GET",endpoint="other",status="404"', 1],
    ]) {
      expect(text).toContain(`tidemark_tsdb_http_requests_total{${labels}} ${count}\n`);
    }
    expect(text).toContain('tidemark_tsdb_write_duration_seconds_bucket{le="+Inf"} 2\n');
    expect(text).toContain('tidemark_tsdb_query_duration_seconds_count 2\n');
    expect(text).toContain('tidemark_tsdb_http_points_written_total{outcome="stored"} 1\n');
    expect(text).toMatch(
      /listener_points_total\{bind="127.0.0.1:\d+",listener="udp",outcome="read"\} 0\n/,
    );
  } finally {
    await service.close();
  }
});
