// Asks a server which shard of the cluster it belongs to.
import { InvalidRequest } from '@tidemark/core';

import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { Unreachable } from './failure.ts';
import { ClickHouseNode } from './node.ts';
import type { NodeOptions } from './node.ts';

/** A server's position in the cluster. */
export type Identity = {
  /** Counted from 1. */
  readonly shard: number;
  readonly shardCount: number;
  readonly replicaCount: number;
};

export type Identified = { readonly identity?: Identity; readonly failure?: unknown };

/** Opens a connection and asks for the server's position in the cluster. */
export async function connectAndIdentify(
  url: string,
  cluster: string,
  options: NodeOptions,
): Promise<Identified & { node: ClickHouseNode }> {
  const node = new ClickHouseNode(url, options);
  return { node, ...(await identify(node, cluster)) };
}

/** A server's position in the cluster, or the failure when it is unreachable. */
export async function identify(node: ClickHouseNode, cluster: string): Promise<Identified> {
  const macro = `SELECT substitution FROM system.macros WHERE macro = 'shard'`;
  const counts = `SELECT uniqExact(shard_num), uniqExact(replica_num)
    FROM system.clusters WHERE cluster = ${sqlText(cluster)}`;
  try {
    const shard = new RowReader(await node.rows(macro));
    const reader = new RowReader(await node.rows(counts));
    const shardCount = Number(reader.uint64());
    const replicaCount = Number(reader.uint64());
    if (!shard.hasMore || shardCount === 0)
      throw new InvalidRequest(
        `${node.url} has no macro \`shard\`, or no cluster \`${cluster}\` in its configuration`,
      );
    return { identity: { shard: Number(shard.text()), shardCount, replicaCount } };
  } catch (failure) {
    if (failure instanceof Unreachable) return { failure };
    throw failure;
  }
}
