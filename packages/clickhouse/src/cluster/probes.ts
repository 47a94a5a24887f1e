// Health probes of a server: whether it answers, and whether it can take writes.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { Unreachable } from './failure.ts';
import type { ClickHouseNode } from './node.ts';
import type { Probe } from './health-monitor.ts';

/** Any answer counts as success. `name` is the address without a password. */
export function pingProbe(name: string, pingTimeoutMs: number): Probe {
  return {
    ask: (signal) => ping(`${name}/ping`, signal),
    failed: (_, isLate) => {
      const what = isLate ? `a ping for ${pingTimeoutMs} ms` : 'pings';
      return `ClickHouse does not answer ${what}. url=\`${name}\``;
    },
  };
}

/**
 * Checks that the server has a ZooKeeper session and no read-only table. It asks again until the
 * signal, so that a server may lose its session and open a new one in time.
 */
export function writeProbe(node: ClickHouseNode, clock: Clock): Probe {
  return {
    ask: async (signal) => {
      // The signal may end a question: the answer to the one before says more.
      for (let known: Error | undefined; ;) {
        const reason = await refusal(node, signal);
        if (reason === undefined) return;
        if (signal.aborted) throw known ?? reason;
        known = reason;
        // The signal ends the pause early.
        await clock.sleep(LIMITS.probeAgainMs.value, signal).catch(() => undefined);
        if (signal.aborted) throw reason;
      }
    },
    failed: (reason) =>
      `ClickHouse does not take writes. url=\`${node.name}\` reason=\`${reason}\``,
  };
}

/** Why a server cannot take a write; `undefined` when it can. */
export async function refusal(
  node: ClickHouseNode,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const replicas = `SELECT count() FROM system.replicas
    WHERE database = ${sqlText(node.database)} AND (is_readonly OR is_session_expired)`;
  // Also reads from ZooKeeper, because tables become read-only only after the session has expired.
  const root = `SELECT count() FROM system.zookeeper WHERE path = '/'`;
  try {
    const reader = new RowReader(await node.rows(`SELECT (${root}), (${replicas})`, { signal }));
    reader.uint64();
    const count = Number(reader.uint64());
    return count === 0 ? undefined : new Unreachable(`${count} of its tables are read-only`);
  } catch (error) {
    return signal.aborted
      ? new Unreachable('a statement that asks ZooKeeper is not answered', { cause: error })
      : (error as Error);
  }
}

/** Uses its own connection, because the pool may be exhausted by statements. */
function ping(url: string, signal: AbortSignal): Promise<void> {
  const get = url.startsWith('https:') ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    get(url, { agent: false, signal }, (response) => {
      response.resume();
      resolve();
    }).once('error', reject);
  });
}
