// A current ClickHouse in this process (the package `chdb`) behind the HTTP interface that the
// service uses. It has no ZooKeeper: replicated tables are plain ones, and the positions of the
// shared log and the version clock are simulated here. All other statements are passed on
// unchanged.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { messageOf } from '@tidemark/core';

/** The used part of the package. */
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
  const positions = new Map<string, { readonly proposal: string; readonly order: number }>();
  let transactions = 0;
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

  function zookeeperAnswer(sql: string): string {
    if (sql.includes('pzxid')) return `SELECT toUInt64(${transactions})`;
    if (sql.includes('SELECT count()')) return 'SELECT toUInt64(1), toUInt64(0)';
    const [, version] = /places\/(\d+)'/.exec(sql) ?? [];
    if (version !== undefined) return `SELECT '\`${positions.get(version)?.proposal ?? ''}\`'`;
    // The first row gives the array a type, and is left out.
    const rows = ["('', toUInt64(0))"];
    for (const [name, { order }] of positions) rows.push(`('${name}', toUInt64(${order}))`);
    return `SELECT r.1, r.2 FROM (SELECT arrayJoin([${rows.join(', ')}]) AS r) WHERE r.2 > 0`;
  }

  async function run(sql: string, body: Buffer): Promise<Uint8Array> {
    const [, version, proposal] = /CREATE TABLE \S*place_(\d+)_\w+ \((p_\w+) /.exec(sql) ?? [];
    if (sql.startsWith('INSERT INTO')) {
      await insert(sql, body);
    } else if (version !== undefined && proposal !== undefined) {
      const taken = positions.get(version) ?? { proposal, order: ++transactions };
      positions.set(version, taken);
      if (taken.proposal !== proposal) throw new Error('Code: 122. DB::Exception: another one');
    } else if (sql.includes('DROP PARTITION ID')) {
      transactions++;
    } else if (sql.includes('SELECT zookeeper_path')) {
      return ask(`SELECT '/clock'`);
    } else if (sql.includes('FROM system.zookeeper')) {
      return ask(zookeeperAnswer(sql));
    } else if (sql.includes('FROM system.macros')) {
      return ask(`SELECT '1'`);
    } else if (sql.includes('FROM system.clusters')) {
      return ask('SELECT toUInt64(1), toUInt64(1)');
    } else {
      return ask(
        sql
          .replace(/\s+FORMAT RowBinary\s*$/, '')
          .replace(
            /Replicated(\w*MergeTree)\(\s*'[^']*',\s*'[^']*'(?:, (\w+))?\)/,
            (_, engine: string, column = '') => `${engine}(${column})`,
          ),
      );
    }
    return new Uint8Array();
  }

  // One statement after another: the session is one connection.
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
