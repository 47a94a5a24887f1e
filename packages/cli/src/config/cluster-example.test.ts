// The example for several machines: its files are accepted by the programs that read them, and
// agree with each other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { loadConfig } from './config-files.ts';

const PACKAGING = join(import.meta.dirname, '../../../../packaging');
const EXAMPLE = join(PACKAGING, 'cluster');

const text = (name: string): string => readFileSync(join(EXAMPLE, name), 'utf8');
const all = (from: string, pattern: RegExp): readonly string[] =>
  Array.from(from.matchAll(pattern), ([, found = '']) => found);

test('the services ask every replica of the cluster, as a user that it knows', async () => {
  const file = join(EXAMPLE, 'tidemark.toml');
  const { tsdb } = await loadConfig('tsdb', { file, environment: {}, flags: new Map() });
  const cluster = text('clickhouse-cluster.xml');
  const users = text('clickhouse-user.xml');

  expect(tsdb.storage.engine).toBe('clickhouse');
  const urls = tsdb.storage.clickhouseUrls.map((url) => new URL(url));
  expect(urls.map(({ hostname }) => hostname)).toEqual(
    all(cluster, /<replica><host>(\w+)<\/host><port>9000</g),
  );
  expect(cluster).toMatch(new RegExp(`<remote_servers>\\s*<${tsdb.storage.clickhouseCluster}>`));
  for (const { username, port } of urls) {
    expect(users).toContain(`<${username}>`);
    expect(port).toBe('8123');
  }
  for (const macro of ['shard', 'replica']) expect(cluster).toContain(`<${macro}>`);
});

test('names of machines are the same in all files', () => {
  const services = all(text('haproxy.cfg'), /server (\w+) \w+:8086/g);
  expect(all(text('clickhouse-user.xml'), /<host>(\w+)<\/host>/g)).toEqual(services);
  expect(all(text('zoo.cfg'), /server\.\d=(\w+):2888:3888/g)).toEqual(
    all(text('clickhouse-cluster.xml'), /<node><host>(\w+)<\/host><port>2181</g),
  );
});

test('the unit of the package starts the database alone', () => {
  const packaged = all(
    readFileSync(join(PACKAGING, 'tidemark.service'), 'utf8'),
    /^ExecStart=(.*)$/gm,
  );
  const [reset, ...own] = all(text('tidemark-cluster.conf'), /^ExecStart=(.*)$/gm);
  expect(reset).toBe('');
  expect(own).toEqual(packaged.map((line) => line.replace(' up ', ' tsdb ')));
});
