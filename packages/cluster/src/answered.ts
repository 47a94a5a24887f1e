// Classifies failed requests to the coordinator.
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { PermissionViolationError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { Unavailable } from '@tidemark/core';

/** Whether the request may have taken effect although it failed. */
export function isUnanswered(error: unknown): boolean {
  const request = requestOf(error);
  if (request === undefined) return error instanceof TimeoutError;
  return !(request.cause instanceof PermissionViolationError);
}

/** Whether the server has no JetStream. */
export function isWithoutJetStream(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return (
    requestOf(error)?.isNoResponders() === true ||
    isApiError(cause, JetStreamApiCodes.JetStreamNotEnabledForAccount)
  );
}

/** Whether JetStream has refused a request with this code. */
export function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** JetStream wraps the error of a request without responders. */
function requestOf(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  return error instanceof Error && error.cause instanceof RequestError ? error.cause : undefined;
}

/** The answer to a request. Throws `Unavailable`, which names the request, if there is none. */
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
