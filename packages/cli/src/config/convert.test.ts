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

test('a value that means nothing here is left out with what is expected, and folders of the old server are not ours', () => {
  const { toml, notes } = convertConfig(
    { http: { 'auth-enabled': 'maybe' }, data: { dir: '/var/lib/influxdb/data' } },
    { ...schema, data: configSection('', { dir: configKey.text('./data', '') }) },
  );

  expect(toml).not.toContain('maybe');
  expect(toml).not.toContain('/var/lib');
  expect(notes).toEqual([
    {
      key: 'http.auth-enabled',
      message: expect.stringMatching(/expected .*; the default is used$/),
    },
    {
      key: 'data.dir',
      message: 'the old files stay where they are; --data-dir names a folder of our own',
    },
  ]);
});

test.each([
  [':8086', false, true],
  ['0.0.0.0:8086', false, true],
  ['127.0.0.1:8086', false, false],
  [':8086', true, false],
])('%s with authentication %s: the refusal is announced: %s', (address, isOn, isNoted) => {
  const keys = {
    'auth-enabled': configKey.boolean(false, ''),
    'bind-address': configKey.text('', ''),
  };
  const { notes } = convertConfig(
    { http: { 'bind-address': address, 'auth-enabled': isOn } },
    { http: configSection('', keys) },
  );
  expect(notes.map(({ key }) => key)).toEqual(isNoted ? ['http.bind-address'] : []);
});
