// Servers that respond as ClickHouse does and as a test defines: a shard of a cluster without
// processes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { RowWriter } from '../sql/row-binary.ts';

export type FakeServer = {
  readonly url: string;
  /** Number of tables that report that they are read-only. */
  readOnlyTables: number;
  /** The outcome of an insert. */
  inserts: 'stored' | 'refused' | 'never answered';
  /** Inserts that were sent to this server, and may have been cancelled. */
  readonly inserted: string[];
  close(): Promise<void>;
};

/** Number of tables; some may be read-only. */
const TABLES = 5;

/** Starts a replica of the only shard of a cluster. */
export async function startFakeServer(replicaCount: number): Promise<FakeServer> {
  const answerTo = (sql: string): Uint8Array => {
    const row = new RowWriter();
    if (sql.includes('system.macros')) row.text('1');
    else if (sql.includes('system.clusters')) {
      row.uint64(1n);
      row.uint64(BigInt(replicaCount));
    } else {
      // The probe of writes reads two numbers, the probe of the load three.
      row.uint64(1n);
      row.uint64(BigInt(sql.includes('is_readonly') ? fake.readOnlyTables : TABLES));
      row.uint64(0n);
    }
    return row.finish();
  };
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://fake').searchParams.get('query');
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const sql = query ?? body;
      if (!sql.startsWith('INSERT')) return response.end(answerTo(sql));
      fake.inserted.push(sql);
      if (fake.inserts === 'stored') return response.end();
      if (fake.inserts === 'refused')
        return response.writeHead(500).end('Code: 285, e.displayText() = DB::Exception: too few');
      return undefined;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    readOnlyTables: 0,
    inserts: 'stored',
    inserted: [],
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return fake;
}
