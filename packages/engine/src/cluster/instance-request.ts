// Requests between instances, outside the API. They carry the cluster secret.
import type { IncomingMessage } from 'node:http';
import { messageOf, Unavailable } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import { isSame } from '../access/web-token.ts';

/** Carries the cluster secret, which proves that a request is from an instance of the cluster. */
export const SECRET_HEADER = 'x-tidemark-cluster-secret';

export type InstanceRequest = {
  readonly secret: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Sends a request to an instance. Throws `Unavailable`, which names it, when it does not answer.
 */
export async function askInstance(
  { url }: Pick<Member, 'url'>,
  { secret, method, path, body, signal }: InstanceRequest,
): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, {
      method,
      headers: { [SECRET_HEADER]: secret },
      body: body ?? null,
      redirect: 'error',
      signal: signal ?? null,
    });
  } catch (error) {
    throw new Unavailable(`instance ${url} does not answer: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Whether a request is from an instance of the cluster. */
export function isOfCluster(
  { headers }: Pick<IncomingMessage, 'headers'>,
  secret: string,
): boolean {
  return isSame(String(headers[SECRET_HEADER] ?? ''), secret);
}
