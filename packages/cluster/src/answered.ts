// Requests that the coordinator has not answered.
import { Unavailable } from '@tidemark/core';
import { ErrorCode, NatsError } from 'nats';

const UNANSWERED: readonly string[] = [
  ErrorCode.Timeout,
  ErrorCode.NoResponders,
  ErrorCode.Disconnect,
];

/** Whether the coordinator may have done what was asked all the same. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof NatsError && UNANSWERED.includes(error.code);
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
