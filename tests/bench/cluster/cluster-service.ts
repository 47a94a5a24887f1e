// A cluster on this machine with one service, for the benchmarks of both. BENCH_REPLICAS (1) of
// each of two shards.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { makeDirectory, removeDirectory, runTidemark, startTidemark } from '@tidemark/testkit';

const SHARDS = 2;
const REPLICAS = Number(process.env['BENCH_REPLICAS'] ?? 1);

export type ClusterService = {
  /** Of the service. */
  readonly tsdb: string;
  /** One server of each shard. */
  readonly shards: readonly string[];
  /** Processor time of the service and of all servers so far, whatever else the machine does. */
  processorMs(): number;
  /** InfluxQL to the service; the answer as text. */
  query(statement: string): Promise<string>;
};

export async function post(url: string, body: string | Uint8Array): Promise<Buffer> {
  const call = request(url, { method: 'POST' });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const answer = Buffer.concat(parts);
  if ((response.statusCode ?? 500) >= 300) throw new Error(answer.toString());
  return answer;
}

/** SQL to one server, with the tables' database. */
export async function sql(url: string, statement: string): Promise<string> {
  return (await post(`${url}/?database=tidemark`, statement)).toString().trim();
}

/** The id that the service gives a series key, or a column. */
export function idOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64LE(0);
}

/** User and system time of a process, of which Linux counts hundredths of a second. */
function processorOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Starts both, and removes them with their data when the work is done. */
export async function withCluster(work: (service: ClusterService) => Promise<void>): Promise<void> {
  const directory = await makeDirectory();
  const cluster = (verb: string, ...more: readonly string[]) =>
    runTidemark(['cluster', verb, '--dir', directory, ...more]);
  const up = await cluster('up', '--shards', String(SHARDS), '--replicas', String(REPLICAS));
  const urls = (/clickhouse=(\S+)/.exec(up.stdout)?.[1] ?? '').split(',');
  const server = await startTidemark({
    command: 'tsdb',
    args: [
      '--monitor-store-enabled=false',
      '--storage-engine=clickhouse',
      `--clickhouse-urls=${urls.join(',')}`,
    ],
  });
  const { tsdb } = server;
  try {
    const query = async (statement: string): Promise<string> => {
      const url = `${tsdb}/query?db=d&epoch=ns&q=${encodeURIComponent(statement)}`;
      return (await post(url, '')).toString();
    };
    await query('CREATE DATABASE d');
    const shards = urls.filter((_, i) => i % REPLICAS === 0);
    const file = JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8')) as {
      nodes: { pid: number }[];
    };
    const pids = [server.process.pid, ...file.nodes.map(({ pid }) => pid)];
    const processorMs = (): number => pids.reduce<number>((sum, pid) => sum + processorOf(pid), 0);
    await work({ tsdb, shards, processorMs, query });
  } finally {
    await server.stop();
    await cluster('down');
    await removeDirectory(server.directory);
    await removeDirectory(directory);
  }
}
