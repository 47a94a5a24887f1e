// A cluster on this machine with one service, for the benchmarks of both. BENCH_REPLICAS (1) of
// each of two shards. BENCH_DIR keeps both with their rows for the next run; without it they are in
// a temporary directory.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { startCluster, stopCluster } from '@tidemark/clickhouse';
import { systemClock } from '@tidemark/core';
import { makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';

import { quantile } from '../server/lines.ts';
import { processorMs } from '../server/processor.ts';

const SHAPE = { shards: 2, replicas: Number(process.env['BENCH_REPLICAS'] ?? 1) };

export type ClusterService = {
  /** The directory of both; benchmarks keep their own files here. */
  readonly directory: string;
  /** The URL of the service. */
  readonly tsdb: string;
  /** One server of each shard. */
  readonly shards: readonly string[];
  /** All servers. */
  readonly nodes: readonly string[];
  /** Processor time of the service, and of all servers with it, whatever else the machine does. */
  processors(): Processors;
  /** InfluxQL to the service; the answer as text. */
  query(statement: string): Promise<string>;
};

export async function post(url: string, body: string | Uint8Array): Promise<Buffer> {
  // A connection that is kept may be closed by the server while bodies are made.
  const call = request(url, { method: 'POST', agent: false });
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

export type Processors = { readonly serviceMs: number; readonly processorMs: number };

/** How long something takes, and what it costs. */
export type Cost = { readonly ms: number } & Processors;

export async function costOf(service: ClusterService, work: () => Promise<unknown>): Promise<Cost> {
  const started = performance.now();
  const before = service.processors();
  await work();
  const ms = performance.now() - started;
  const { serviceMs, processorMs } = service.processors();
  return {
    ms,
    serviceMs: serviceMs - before.serviceMs,
    processorMs: processorMs - before.processorMs,
  };
}

/** The median of one of the numbers. */
export function middle<K extends string>(
  all: readonly Readonly<Record<K, number>>[],
  of: K,
): number {
  return quantile(
    all.map((one) => one[of]).sort((a, b) => a - b),
    0.5,
  );
}

/** Starts both, and ends them when the work is done. */
export async function withCluster(work: (service: ClusterService) => Promise<void>): Promise<void> {
  const kept = process.env['BENCH_DIR'];
  const directory = kept ?? (await makeDirectory());
  const clock = systemClock();
  const cluster = join(directory, 'cluster');
  const { nodes } = await startCluster({
    directory: cluster,
    ...SHAPE,
    environment: process.env,
    clock,
  });
  const server = await startTidemark({
    command: 'tsdb',
    directory: join(directory, 'service'),
    args: [
      '--monitor-store-enabled=false',
      '--storage-engine=clickhouse',
      `--clickhouse-urls=${nodes.map(({ url }) => url).join(',')}`,
    ],
  });
  const { tsdb } = server;
  try {
    const query = async (statement: string): Promise<string> => {
      const url = `${tsdb}/query?db=d&epoch=ns&q=${encodeURIComponent(statement)}`;
      return (await post(url, '')).toString();
    };
    await query('CREATE DATABASE d');
    const processors = (): Processors => {
      const serviceMs = processorMs(server.process.pid ?? 0);
      return {
        serviceMs,
        processorMs: nodes.reduce((ms, { pid }) => ms + processorMs(pid), serviceMs),
      };
    };
    await work({
      directory,
      tsdb,
      shards: nodes.filter(({ replica }) => replica === 1).map(({ url }) => url),
      nodes: nodes.map(({ url }) => url),
      processors,
      query,
    });
  } finally {
    await server.stop();
    await stopCluster(cluster, clock);
    if (kept === undefined) await removeDirectory(directory);
  }
}
