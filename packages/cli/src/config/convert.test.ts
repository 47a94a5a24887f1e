import { configKey, configSection, configSections } from '@tidemark/core';
import { expect, test } from 'vitest';

import { convertConfig } from './convert.ts';

const schema = {
  '': configSection('', { hostname: configKey.text('', '') }),
  http: configSection('', { 'auth-enabled': configKey.boolean(false, '') }),
  tsdb: configSections('', { urls: configKey.textList('') }),
};

test('keeps what is known, renames sections, and says what has no counterpart and why', () => {
  const { toml, notes } = convertConfig(
    {
      hostname: 'h',
      http: { 'auth-enabled': true, 'flux-enabled': true },
      influxdb: [{ urls: ['http://db:8086'], 'kapacitor-hostname': 'x' }],
      reporting: { enabled: true },
    },
    schema,
  );

  expect(toml).toContain('hostname = "h"');
  expect(toml).toContain('[http]\nauth-enabled = true');
  expect(toml).toContain('[[tsdb]]\nurls = [ "http://db:8086" ]');
  expect(notes).toEqual([
    { key: 'http.flux-enabled', message: 'Flux is not supported' },
    { key: 'influxdb.kapacitor-hostname', message: 'no counterpart' },
    { key: 'reporting', message: 'nothing is ever reported to anybody' },
  ]);
});
