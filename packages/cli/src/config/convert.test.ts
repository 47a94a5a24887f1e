import { bool, configSection, configSections, list, resolveConfig, str } from '@tidemark/settings';
import type { ConfigSchema } from '@tidemark/settings';
import { expect, test } from 'vitest';

import { convertConfig } from './convert.ts';
import type { ConversionTarget } from './convert.ts';

const target = (of: ConfigSchema): ConversionTarget => ({
  schema: of,
  resolve: (layers) => resolveConfig(of, layers),
});

const schema = {
  '': configSection('', { hostname: str('') }),
  http: configSection('', { 'auth-enabled': bool('') }),
  tsdb: configSections('', { urls: list('') }),
};

test('keeps what is known, renames sections, and says what has no counterpart and why', () => {
  const { tables, notes } = convertConfig(
    {
      hostname: 'h',
      http: { 'auth-enabled': true, 'flux-enabled': true },
      influxdb: [{ urls: ['http://db:8086'], 'kapacitor-hostname': 'x' }],
      reporting: { enabled: true },
    },
    target(schema),
  );

  expect(tables).toEqual({
    hostname: 'h',
    http: { 'auth-enabled': true },
    tsdb: [{ urls: ['http://db:8086'] }],
  });
  expect(notes).toEqual([
    { key: 'http.flux-enabled', message: 'Flux is not supported' },
    { key: 'influxdb.kapacitor-hostname', message: 'no counterpart' },
    { key: 'reporting', message: 'no usage data is ever reported' },
  ]);
});

test('a value that means nothing here is left out with what is expected, and folders of the old server are not ours', () => {
  const { tables, notes } = convertConfig(
    { http: { 'auth-enabled': 'maybe' }, data: { dir: '/var/lib/influxdb/data' } },
    target({ ...schema, data: configSection('', { dir: str('', './data') }) }),
  );

  expect(tables).toEqual({ http: {}, data: {} });
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

test('a converted task engine is told that programs, files and secrets have to be listed', () => {
  const alert = configSection('', { 'allowed-programs': list('') });

  const { notes } = convertConfig({ hostname: 'h' }, target({ ...schema, alert }));

  expect(notes.find(({ key }) => key === 'alert.allowed-programs')?.message).toMatch(
    /exec handlers run only .* alert\.allowed-files .* alert\.allowed-secrets/,
  );
});

test.each([
  [':8086', false, true],
  ['0.0.0.0:8086', false, true],
  ['127.0.0.1:8086', false, false],
  [':8086', true, false],
])('%s with authentication %s: the refusal is announced: %s', (address, isOn, isNoted) => {
  const keys = {
    'auth-enabled': bool(''),
    'bind-address': str(''),
  };
  const { notes } = convertConfig(
    { http: { 'bind-address': address, 'auth-enabled': isOn } },
    target({ http: configSection('', keys) }),
  );
  expect(notes.map(({ key }) => key)).toEqual(isNoted ? ['http.bind-address'] : []);
});
