import { describe, expect, expectTypeOf, test } from 'vitest';

import { resolveConfig, resolveOptions } from './resolve.ts';
import { configSection, configSections } from './schema.ts';
import type { ConfigOf } from './schema.ts';
import { configFlags, environmentLayer, flagLayer, printDefaultConfig } from './sources.ts';
import { parseConfigDuration, printConfigDuration } from './values.ts';
import { bool, duration, integer, list, oneOf, secret, size, str, texts } from '../option-rows.ts';
import { readSize } from '../options.ts';

const schema = {
  '': configSection('Top.', { hostname: str('Name of this host.', 'localhost') }),
  http: configSection('The HTTP API.', {
    'bind-address': str('Where to listen.', '127.0.0.1:8086'),
    'auth-enabled': bool('Ask for credentials.'),
    'max-body-size': size('Largest body.', 25_000_000),
    'idle-timeout': duration('How long.', '1m30s'),
    'shared-secret': secret('Key of tokens.'),
    format: oneOf('How logs look.', ['auto', 'json'], 'auto'),
    headers: texts('Headers of every answer.'),
  }),
  udp: configSections('UDP listeners.', {
    'batch-size': integer('Points of a batch.', 5000),
    tags: list('Tags of every point.'),
  }),
};

function resolve(values: Record<string, unknown>, isText = false) {
  return resolveConfig(schema, [{ source: 'a.toml', values, isText }]);
}

describe('resolveConfig', () => {
  test('has typed camel-case names with units and all defaults', () => {
    const { config, problems } = resolveConfig(schema, []);

    expectTypeOf<ConfigOf<typeof schema>['http']['idleTimeoutMs']>().toEqualTypeOf<number>();
    expect(problems).toEqual([]);
    expect(config['']).toEqual({ hostname: 'localhost' });
    expect(config.http).toEqual({
      bindAddress: '127.0.0.1:8086',
      authEnabled: false,
      maxBodySizeBytes: 25_000_000,
      idleTimeoutMs: 90_000,
      sharedSecret: '',
      format: 'auto',
      headers: {},
    });
    expect(config.udp).toEqual([]);
  });

  test('lays environment over file and flags over both', () => {
    const { config, problems } = resolveConfig(schema, [
      {
        source: 'a.toml',
        values: {
          hostname: 'h',
          http: { 'max-body-size': '1k', 'bind-address': ':1', headers: { a: 'b' } },
          udp: [{ tags: ['x=y'] }, {}],
        },
      },
      environmentLayer(
        schema,
        {
          T_HTTP_BIND_ADDRESS: ':2',
          T_HTTP_AUTH_ENABLED: 'true',
          T_UDP_1_BATCH_SIZE: '7',
          T_X: '',
        },
        'T',
      ),
      flagLayer(schema, { 'http-bind-address': ':3', other: 'x' }),
    ]);

    expect(problems).toEqual([]);
    expect(config[''].hostname).toBe('h');
    expect(config.http).toMatchObject({
      maxBodySizeBytes: 1024,
      bindAddress: ':3',
      authEnabled: true,
      headers: { a: 'b' },
    });
    expect(config.udp).toEqual([
      { batchSize: 5000, tags: ['x=y'] },
      { batchSize: 7, tags: [] },
    ]);
  });

  test.each([
    [{ http: { 'auth-enabled': 'yes' } }, 'http.auth-enabled', /expected true or false/],
    [{ http: { 'max-body-size': -1 } }, 'http.max-body-size', /expected a number of bytes/],
    [{ http: { 'idle-timeout': 5 } }, 'http.idle-timeout', /expected a duration such as "10s"/],
    [{ http: { format: 'xml' } }, 'http.format', /expected one of "auto", "json"/],
    [{ http: { nope: 1 } }, 'http.nope', /unknown key; known are bind-address/],
    [{ http: 5 }, 'http', /expected a table/],
    [{ udp: [{ 'batch-size': 1.5 }] }, 'udp.batch-size', /expected an integer/],
    [{ udp: [{ tags: [1] }] }, 'udp.tags', /list of texts/],
    [{ nope: {} }, 'nope', /unknown section or key; known are http, udp, hostname/],
    [{ constructor: {} }, 'constructor', /unknown section/],
  ])('refuses %j and names file, key and what is allowed', (values, key, message) => {
    const { problems } = resolve(values);
    expect(problems).toEqual([{ source: 'a.toml', key, message: expect.stringMatching(message) }]);
  });

  test('takes what is empty in a file for what is not set', () => {
    const services = {
      service: configSections('A service.', {
        urls: list('Its URLs.', ['http://localhost']),
        headers: texts('Its headers.'),
      }),
    };
    const { sections, problems } = resolveOptions(services, [
      { source: 'a.toml', values: { service: [{ urls: [], headers: {} }] } },
    ]);

    expect(problems).toEqual([]);
    expect(sections.get('service')).toEqual([{ urls: ['http://localhost'], headers: null }]);
    expect(printDefaultConfig(services)).toContain('# urls = ["http://localhost"]');
  });

  test('closes gaps between elements that the environment numbers', () => {
    const { config } = resolveConfig(schema, [
      environmentLayer(schema, { T_UDP_3_BATCH_SIZE: '7' }, 'T'),
    ]);

    expect(config.udp).toEqual([{ batchSize: 7, tags: [] }]);
  });

  test('never repeats a secret', () => {
    const { problems } = resolve({ http: { 'shared-secret': 12345 } });
    expect(problems[0]?.message).toBe('that is not allowed; expected text');
  });
});

test('durations and sizes read back what they print', () => {
  expect(['0', '0s', '10s', '1h30m', '1.5s', '2w', 'x', '10', ''].map(parseConfigDuration)).toEqual(
    [0, 0, 10_000, 5_400_000, 1500, 1_209_600_000, undefined, undefined, undefined],
  );
  expect([0, 1, 1500, 60_000, 5_400_000, 7_200_000].map(printConfigDuration)).toEqual([
    '0s',
    '1ms',
    '1500ms',
    '1m',
    '90m',
    '2h',
  ]);
  expect([5, 5n, '5', '2k', '3M', '1g', '1t', -1, 1.5].map(readSize)).toEqual([
    5,
    5,
    5,
    2048,
    3_145_728,
    1_073_741_824,
    undefined,
    undefined,
    undefined,
  ]);
});

test('lists a flag for every key of every single section', () => {
  expect(configFlags(schema).map((flag) => flag.name)).toEqual([
    'hostname',
    'http-bind-address',
    'http-auth-enabled',
    'http-max-body-size',
    'http-idle-timeout',
    'http-shared-secret',
    'http-format',
  ]);
});

test('prints a commented default file', () => {
  expect(printDefaultConfig(schema, 'database')).toMatchInlineSnapshot(`
    "# Top.
    [database]

      # Name of this host.
      hostname = "localhost"

    # The HTTP API.
    [database.http]

      # Where to listen.
      bind-address = "127.0.0.1:8086"

      # Ask for credentials.
      auth-enabled = false

      # Largest body.
      max-body-size = 25000000

      # How long.
      idle-timeout = "90s"

      # Key of tokens.
      shared-secret = ""

      # How logs look. Allowed: auto, json.
      format = "auto"

      # Headers of every answer.
      # headers = {}

    # UDP listeners.
    # [[database.udp]]

      # Points of a batch.
      # batch-size = 5000

      # Tags of every point.
      # tags = []
    "
  `);
});
