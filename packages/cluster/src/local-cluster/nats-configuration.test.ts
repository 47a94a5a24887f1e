import { expect, test } from 'vitest';

import { natsConfiguration } from './nats-configuration.ts';

test.each([
  ['nats-server: v2.9.10\n', false],
  ['nats-server: v2.10.0\n', true],
  ['nats-server: v2.11.4-beta.1', true],
  ['nats-server: v3.0.1', true],
  ['something else', false],
])('%s syncs its files after every change: %s', (version, isSynced) => {
  const text = natsConfiguration({ port: 4222, directory: '/d', version });

  expect(text).toContain('jetstream { store_dir: "/d/data"');
  expect(text.includes('sync_interval: always')).toBe(isSynced);
});
