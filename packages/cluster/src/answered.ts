// Requests that the coordinator has not answered.
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { PermissionViolationError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { Unavailable } from '@tidemark/core';

/** Whether the coordinator may have done what was asked all the same. */
export function isUnanswered(error: unknown): boolean {
  const request = requestOf(error);
  if (request === undefined) return error instanceof TimeoutError;
  return !(request.cause instanceof PermissionViolationError);
}

/** Whether nobody at the coordinator knows JetStream. */
export function isWithoutJetStream(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return (
    requestOf(error)?.isNoResponders() === true ||
    isApiError(cause, JetStreamApiCodes.JetStreamNotEnabledForAccount)
  );
}

/** Whether the coordinator has refused a request with this code of JetStream. */
export function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** JetStream wraps a request that nobody answers. */
function requestOf(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  return error instanceof Error && error.cause instanceof RequestError ? error.cause : undefined;
}

/** The answer to a request. Throws `Unavailable`, which says what was asked, without one. */
export async function answered<T>(asked: string, request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    throw new Unavailable(`the coordinator does not answer a request to ${asked}`, {
      cause: error,
    });
  }
}
