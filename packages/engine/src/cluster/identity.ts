// What all instances of a cluster have in common, written by the first of them.
import { randomBytes } from 'node:crypto';
import { assert, InvalidRequest } from '@tidemark/core';
import type { Coordinator } from '@tidemark/cluster';
import type { Metadata } from '../store/metadata.ts';

export type Identity = {
  /** Names the cluster to databases. */
  readonly clusterId: string;
  /** With it instances believe each other who a client is. */
  readonly secret: string;
  /** Tells the key that definitions are stored with. */
  readonly keyCheck: string;
};

type Register = Coordinator['register'];

const IDENTITY = 'identity';

const checkOf = ({ cipher }: Metadata, cluster: string): string =>
  cipher.check(`cluster ${cluster}`);

/** Takes over what all instances have in common, or says it as the first one. */
export async function shareIdentity(
  register: Register,
  metadata: Metadata,
  cluster: string,
): Promise<Identity> {
  const own: Identity = {
    clusterId: metadata.clusterId,
    secret: randomBytes(32).toString('base64url'),
    keyCheck: checkOf(metadata, cluster),
  };
  await register.change(IDENTITY, JSON.stringify(own), 0);
  const identity = await requireKey(register, metadata, cluster);
  assert(identity !== undefined, 'it was written by somebody');
  return identity;
}

/** As it is there. Throws `InvalidRequest` when definitions are stored with another key. */
export async function requireKey(
  register: Register,
  metadata: Metadata,
  cluster: string,
): Promise<Identity | undefined> {
  const entry = await register.get(IDENTITY);
  if (entry === undefined) return undefined;
  const identity = JSON.parse(entry.text) as Identity;
  if (identity.keyCheck === checkOf(metadata, cluster)) return identity;
  throw new InvalidRequest(
    `the other instances of cluster ${JSON.stringify(cluster)} store definitions with another key: give all of them the same one with secrets-key`,
  );
}
