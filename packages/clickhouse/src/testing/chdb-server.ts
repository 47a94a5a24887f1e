// A current ClickHouse in this process (the package `chdb`) behind the HTTP interface that the
// service speaks. It has no ZooKeeper: replicated tables are plain ones, and the places in the list
// of what front ends agree on are kept here. Everything else is asked as it comes.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { messageOf } from '@tidemark/core';

/** What is used of the package. */
export type ChdbPackage = {
  readonly Session: new (path: string) => {
    queryAsync(
      sql: string,
      options: { readonly format: string },
    ): Promise<{ bytes(): Uint8Array; text(): string }>;
    close(): void;
  };
};

export type ChdbServer = { readonly url: string; close(): Promise<void> };

export async function startChdb({ Session }: ChdbPackage): Promise<ChdbServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-chdb-'));
  const session = new Session(join(directory, 'data'));
  const places = new Map<string, string>();
  let files = 0;

  const ask = async (sql: string): Promise<Uint8Array> =>
    (await session.queryAsync(sql, { format: 'RowBinary' })).bytes();

  async function insert(into: string, body: Buffer): Promise<void> {
    const [, table = '', columns = '', format = ''] =
      /^INSERT INTO (\S+) \((.*)\) FORMAT (\w+)/s.exec(into) ?? [];
    const described = await session.queryAsync(`DESCRIBE TABLE ${table}`, { format: 'TSV' });
    const types = new Map(
      described
        .text()
        .trim()
        .split('\n')
        .map((row): [string, string] => {
          const [name = '', type = ''] = row.split('\t');
          return [name, type];
        }),
    );
    const structure = columns.split(', ').map((name) => `${name} ${types.get(name) ?? ''}`);
    const file = join(directory, `${files++}.bin`);
    writeFileSync(file, body);
    await ask(
      `INSERT INTO ${table} (${columns})
       SELECT * FROM file('${file}', '${format}', '${structure.join(', ')}')`,
    );
    rmSync(file);
  }

  async function run(sql: string, body: Buffer): Promise<Uint8Array> {
    const [, place, name] = /CREATE TABLE \S*place_(\d+)_\w+ \((p_\w+) /.exec(sql) ?? [];
    if (sql.startsWith('INSERT INTO')) {
      await insert(sql, body);
    } else if (place !== undefined && name !== undefined) {
      if (!places.has(place)) places.set(place, name);
      if (places.get(place) !== name) throw new Error('Code: 122. DB::Exception: another one');
    } else if (sql.includes('FROM system.zookeeper')) {
      const [, version] = /places\/(\d+)'/.exec(sql) ?? [];
      const values =
        version === undefined ? [...places.keys()] : [`\`${places.get(version) ?? ''}\``];
      const list = values.map((value) => `'${value}'`).join(', ');
      return ask(`SELECT arrayJoin([${list}]::Array(String))`);
    } else if (sql.includes('FROM system.macros')) {
      return ask(`SELECT '1'`);
    } else if (sql.includes('FROM system.clusters')) {
      return ask('SELECT toUInt64(1), toUInt64(1)');
    } else {
      return ask(
        sql
          .replace(/\s+FORMAT RowBinary\s*$/, '')
          .replace(/ReplicatedReplacingMergeTree\(\s*'[^']*',\s*'[^']*'\)/, 'ReplacingMergeTree()'),
      );
    }
    return new Uint8Array();
  }

  // One statement after the other: the session is one connection.
  let tail: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const { searchParams } = new URL(request.url ?? '/', 'http://chdb');
      const answer = tail.then(() => run(searchParams.get('query') ?? body.toString(), body));
      tail = answer.catch(() => undefined);
      try {
        response.end(await answer);
      } catch (error) {
        response.writeHead(500).end(messageOf(error).trim());
      }
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      session.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
