// Kills the service at random moments while many clients write one line each, and checks after
// every round that each acknowledged line is found and nothing is invented. Runs the built
// executable. packages/cli/bin/node --conditions=source tests/crash/service/one-line-writes.ts
// [rounds] [seed] [clients]
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { deferred } from '@tidemark/core';
import { query, removeDirectory, seededRandom, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { KeepAlive } from '../../bench/server/keep-alive.ts';

export type RoundsOptions = {
  readonly rounds: number;
  readonly seed: number;
  readonly clients: number;
  readonly log?: ((line: string) => void) | undefined;
};

/** Acknowledged lines of each client. */
type Acknowledged = readonly number[];

/** Small, so that kills meet flushes too. */
const ARGS = ['--monitor-store-enabled', 'false', '--data-memtable-max-size', '1048576'];
/** From the first answer. */
const SHORTEST_MS = 20;
const LONGEST_MS = 1500;

export async function killRounds({ rounds, seed, clients, log }: RoundsOptions): Promise<void> {
  const random = seededRandom(seed);
  const expected: Acknowledged[] = [];
  let server = await startTidemark({ command: 'tsdb', args: ARGS });
  const { directory } = server;
  try {
    await query(server.tsdb, 'CREATE DATABASE d');
    for (let round = 0; round < rounds; round++) {
      const afterMs = SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS);
      const acknowledged = await writeUntilKilled(server, { round, clients, afterMs });
      expected.push(acknowledged);
      server = await startTidemark({ command: 'tsdb', directory, args: ARGS });
      for (const [past, counts] of expected.entries()) await check(server, past, counts);
      const sum = acknowledged.reduce((total, count) => total + count, 0);
      log?.(`round ${round + 1}/${rounds}: ${sum} lines of ${clients} clients kept`);
    }
  } finally {
    await server.kill();
    await removeDirectory(directory);
  }
}

/** Each client waits for the answer to a line before it writes the next one. */
async function writeUntilKilled(
  server: Tidemark,
  {
    round,
    clients,
    afterMs,
  }: { readonly round: number; readonly clients: number; readonly afterMs: number },
): Promise<Acknowledged> {
  const connections = await Promise.all(
    Array.from({ length: clients }, () => KeepAlive.open(server.tsdb)),
  );
  let isKilled = false;
  const first = deferred<void>();
  const work = connections.map(async (connection, client) => {
    for (let line = 0; ; line++) {
      const body = `m,round=r${round},client=c${client} v=${line}i ${line}`;
      let status: number;
      try {
        status = await connection.post('/write?db=d', body);
      } catch (error) {
        // The connection ended before the answer.
        if (isKilled) return line;
        throw error;
      }
      if (status !== 204) throw new Error(`write answered ${status}`);
      first.resolve();
    }
  });
  const killed = first.promise.then(async () => {
    await sleep(afterMs);
    isKilled = true;
    await server.kill();
  });
  const [acknowledged] = await Promise.all([Promise.all(work), killed]);
  for (const connection of connections) connection.close();
  return acknowledged;
}

/** The line on its way when the service was killed may be there or not. */
async function check(server: Tidemark, round: number, counts: Acknowledged): Promise<void> {
  const text = `SELECT v FROM m WHERE round = 'r${round}' GROUP BY client`;
  const series = await query(server.tsdb, text, 'd', { epoch: 'ns' });
  const found = new Map(series.map(({ tags, values }) => [tags?.['client'], values]));
  for (const [client, count] of counts.entries()) {
    const rows = found.get(`c${client}`) ?? [];
    const where = `round ${round}, client ${client}: ${count} acknowledged, ${rows.length} found`;
    if (rows.length < count) throw new Error(`lost: ${where}`);
    if (rows.length > count + 1) throw new Error(`invented: ${where}`);
    for (const [line, [time, value]] of rows.entries()) {
      if (time !== line || value !== line) throw new Error(`wrong value at ${line}: ${where}`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [rounds = 20, seed = 1, clients = 256] = process.argv.slice(2).map(Number);
  const log = (line: string): void => void process.stdout.write(`${line}\n`);
  await killRounds({ rounds, seed, clients, log });
}
