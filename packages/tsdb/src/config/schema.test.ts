import { environmentLayer, printDefaultConfig, resolveConfig } from '@tidemark/settings';
import { expect, test } from 'vitest';

import { TSDB_CONFIG } from './schema.ts';

test('has the defaults that operators of this kind of database expect', () => {
  const { config } = resolveConfig(TSDB_CONFIG, []);

  expect(config.http).toMatchObject({
    bindAddress: '127.0.0.1:8086',
    authEnabled: false,
    maxBodySizeBytes: 25_000_000,
    enqueuedWriteTimeoutMs: 30_000,
    maxRowLimit: 0,
  });
  expect(config.monitor).toEqual({
    storeEnabled: true,
    storeDatabase: '_internal',
    storeIntervalMs: 10_000,
  });
  expect(config.retention.checkIntervalMs).toBe(1_800_000);
  expect(config.subscriber).toMatchObject({ writeConcurrency: 40, writeBufferSize: 1000 });
});

test('every setting can come from the environment', () => {
  const { config, problems } = resolveConfig(TSDB_CONFIG, [
    environmentLayer(
      TSDB_CONFIG,
      {
        INFLUXDB_HTTP_AUTH_ENABLED: 'true',
        INFLUXDB_CONTINUOUS_QUERIES_RUN_INTERVAL: '5s',
        INFLUXDB_GRAPHITE_0_ENABLED: 'true',
        INFLUXDB_GRAPHITE_0_TEMPLATES: '*.app env.service.measurement',
      },
      'INFLUXDB',
    ),
  ]);

  expect(problems).toEqual([]);
  expect(config.http.authEnabled).toBe(true);
  expect(config.continuousQueries.runIntervalMs).toBe(5000);
  expect(config.graphite).toHaveLength(1);
  expect(config.graphite[0]).toMatchObject({
    enabled: true,
    templates: ['*.app env.service.measurement'],
  });
});

test('the default file names every key', () => {
  const text = printDefaultConfig(TSDB_CONFIG);
  for (const [name, section] of Object.entries(TSDB_CONFIG)) {
    if (name !== '') expect(text).toContain(`[${name}]`);
    for (const key of Object.keys(section.options)) expect(text).toContain(`${key} = `);
  }
});
