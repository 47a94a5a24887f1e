// The identity of a cluster, which all its instances share. The first instance writes it.
import { randomBytes, randomUUID } from 'node:crypto';
import { assert, InvalidRequest } from '@tidemark/core';
import type { SharedRegister } from '@tidemark/cluster';
import type { Metadata } from '../store/metadata.ts';

export type Identity = {
  /** The cluster's name at databases. */
  readonly clusterId: string;
  /** The secret with which instances trust each other's statements about clients. */
  readonly secret: string;
  /** Identifies the key of stored definitions. */
  readonly keyCheck: string;
  /** Identifies the shared log: a coordinator that has lost its disk begins another one. */
  readonly log: string;
  /** Id of the instance whose definitions the log begins with; absent when it had none. */
  readonly begins?: string | undefined;
};

const IDENTITY = 'identity';

const checkOf = ({ cipher }: Metadata, cluster: string): string =>
  cipher.check(`cluster ${cluster}`);

/**
 * Reads the identity that all instances share, or writes it as the first one; `hasOwn` tells
 * whether that instance has definitions for the cluster to begin with.
 */
export async function shareIdentity(
  register: SharedRegister,
  metadata: Metadata,
  { cluster, hasOwn }: { readonly cluster: string; readonly hasOwn: boolean },
): Promise<Identity> {
  const own: Identity = {
    clusterId: metadata.clusterId,
    secret: randomBytes(32).toString('base64url'),
    keyCheck: checkOf(metadata, cluster),
    log: randomUUID(),
    ...(hasOwn ? { begins: metadata.serverId } : {}),
  };
  await register.change(IDENTITY, JSON.stringify(own), 0);
  const identity = await requireKey(register, metadata, cluster);
  assert(identity !== undefined, 'it was written by somebody');
  return identity;
}

/** Stores the identity again; returns what is stored. Throws as `requireKey`. */
export async function restoreIdentity(
  register: SharedRegister,
  metadata: Metadata,
  { cluster, identity }: { readonly cluster: string; readonly identity: Identity },
): Promise<Identity | undefined> {
  await register.change(IDENTITY, JSON.stringify(identity), 0);
  return requireKey(register, metadata, cluster);
}

/**
 * Returns the identity as it is. Throws `InvalidRequest` when definitions are stored with another
 * key.
 */
export async function requireKey(
  register: SharedRegister,
  metadata: Metadata,
  cluster: string,
): Promise<Identity | undefined> {
  const entry = await register.get(IDENTITY);
  if (entry === undefined) return undefined;
  const identity = JSON.parse(entry.text) as Identity | (Omit<Identity, 'log'> & { log?: never });
  if (identity.keyCheck !== checkOf(metadata, cluster))
    throw new InvalidRequest(
      `the other instances of cluster ${JSON.stringify(cluster)} store definitions with another key: give all of them the same one with secrets-key`,
    );
  if (identity.log !== undefined) return identity;
  // Logs of older versions have no name. If several instances name one at once, one succeeds.
  const named = JSON.stringify({ ...identity, log: randomUUID() });
  await register.change(IDENTITY, named, entry.revision);
  return requireKey(register, metadata, cluster);
}
