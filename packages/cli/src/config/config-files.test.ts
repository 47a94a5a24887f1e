import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { UsageError } from '../exit.ts';
import { checkConfig, commandFlags, loadConfig } from './config-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidemark-config-'));

afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const none = { environment: {}, flags: new Map<string, string>() };

test('engine files have the engine sections at top level', async () => {
  const path = file(
    'engine.toml',
    `hostname = "h"
[stats]
enabled = false
[smtp]
enabled = true
host = "mail"
from = "tidemark@example.org"
to = ["ops@example.org"]
[[tsdb]]
name = "main"
default = true
urls = ["http://127.0.0.1:8086"]
`,
  );

  const { configs, problems } = await checkConfig('engine', { ...none, file: path });

  expect(problems).toEqual([]);
  expect(configs.engine?.[''].hostname).toBe('h');
  expect(configs.engine?.stats.enabled).toBe(false);
  expect(configs.engine?.overridable.get('smtp')?.[0]).toMatchObject({ host: 'mail' });
  expect(configs.engine?.overridable.get('tsdb')?.[0]).toMatchObject({ name: 'main' });
});

test('files of both services have theirs under database and engine', async () => {
  const path = file(
    'up.toml',
    '[database.http]\nmax-row-limit = 7\n[engine]\nhostname = "h"\n[engine.http]\nbind-address = "127.0.0.1:1"\n[ui]\nbind-address = "127.0.0.1:2"\n',
  );

  const config = await loadConfig('up', { ...none, file: path });

  expect(config.tsdb.http.maxRowLimit).toBe(7);
  expect(config.engine[''].hostname).toBe('h');
  expect(config.engine.http.bindAddress).toBe('127.0.0.1:1');
  expect(config.ui.ui.bindAddress).toBe('127.0.0.1:2');
});

test('a profile lies below file, environment and flags', async () => {
  const path = file('small.toml', '[data]\nmemtable-max-size = "6m"\n');
  const { tsdb } = await loadConfig('tsdb', {
    file: path,
    environment: { TIDEMARK_HTTP_MAX_BODY_SIZE: '7m' },
    flags: new Map(),
    profile: 'small',
  });
  expect([
    tsdb.data.memtableMaxSizeBytes,
    tsdb.http.maxBodySizeBytes,
    tsdb.data.walMaxSizeBytes,
    tsdb.http.bindAddress,
  ]).toEqual([6 << 20, 7 << 20, 8 << 20, '127.0.0.1:8086']);
});

test('the environment may use the older names of sections', async () => {
  const { engine } = await loadConfig('engine', {
    environment: {
      TIDEMARK_INFLUXDB_0_URLS: 'http://db:8086',
      TIDEMARK_SLACK_0_URL: 'http://chat/',
      TIDEMARK_SLACK_0_CHANNEL: '#ops',
    },
    flags: new Map(),
  });

  expect(engine.overridable.get('tsdb')).toMatchObject([{ urls: ['http://db:8086'] }]);
  expect(engine.overridable.get('chat')).toMatchObject([{ url: 'http://chat/', channel: '#ops' }]);
});

test('problems name source, key and what is allowed, all of them at once', async () => {
  const path = file(
    'bad.toml',
    '[database.data]\nfield-types = "x"\n[engine.stats]\nenabld = true\n[nonsense]\n',
  );
  const sources = {
    file: path,
    environment: { TIDEMARK_DATABASE_HTTP_MAX_ROW_LIMIT: 'many' },
    flags: new Map([['engine-stats-enabled', 'perhaps']]),
  };

  const failure = await loadConfig('up', sources).then(
    () => undefined,
    (error: unknown) => error,
  );

  expect(failure).toBeInstanceOf(UsageError);
  const text = (failure as UsageError).message;
  expect(text).toContain(
    `${path}: database.data.field-types: "x" is not allowed; expected one of "shard", "measurement"`,
  );
  expect(text).toContain(`${path}: engine.stats.enabld: unknown key`);
  expect(text).toContain(`${path}: nonsense: unknown section; known are ui, database, engine`);
  expect(text).toContain('environment: database.http.max-row-limit: "many" is not allowed');
  expect(text).toContain(
    'flags: engine.stats.enabled: "perhaps" is not allowed; expected true or false',
  );
});

test('every key of a section has a flag', async () => {
  const names = (await commandFlags('up')).map(({ name }) => name);

  expect(names).toEqual(
    expect.arrayContaining([
      'database-http-auth-enabled',
      'engine-stats-enabled',
      'ui-bind-address',
    ]),
  );
  expect(new Set(names).size).toBe(names.length);
});
