// Shared by the files of this folder: finding an enabled service's options and sending its request.
import { InvalidRequest } from '@tidemark/core';
import { refusal } from '@tidemark/settings';
import type {
  enabled,
  IncomingResponse,
  OptionTable,
  OptionsOf,
  OutgoingRequest,
  SectionSpec,
} from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';

/** Options of an enabled service's section. */
export function enabledSection<Table extends OptionTable & ReturnType<typeof enabled>>(
  context: HandlerContext,
  section: SectionSpec<Table>,
  element?: { readonly id: string; readonly unknown: string },
): OptionsOf<Table> {
  const options = context.section(section, element?.id);
  if (options === undefined) throw new InvalidRequest(element?.unknown ?? 'service is not enabled');
  if (!options.enabled) throw new InvalidRequest('service is not enabled');
  return options;
}

/** Sends JSON and checks the status; otherwise throws with the receiver's own words. */
export async function postJson(
  context: HandlerContext,
  request: Omit<OutgoingRequest, 'method' | 'body'> & {
    readonly service: string;
    readonly json: unknown;
    readonly expect: readonly number[];
  },
): Promise<IncomingResponse> {
  const response = await context.http.send(
    {
      ...request,
      method: 'POST',
      body: JSON.stringify(request.json),
      headers: { 'Content-Type': 'application/json', ...request.headers },
    },
    context.signal,
  );
  checkStatus(response, request.service, request.expect);
  return response;
}

/** Throws unless the status is one of the expected ones. */
export function checkStatus(
  response: IncomingResponse,
  service: string,
  expected: readonly number[],
): void {
  if (expected.includes(response.status)) return;
  const reason = reasonOf(response.body);
  throw refusal(
    response.status,
    reason === undefined
      ? `failed to understand ${service} response. code: ${response.status} content: ${response.body.slice(0, 1000)}`
      : `${service}: ${reason}`,
  );
}

// Services answer with the reason under one of a few names.
function reasonOf(body: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // Not JSON: the caller shows the text as it is.
    return undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  const members: Readonly<Record<string, unknown>> = { ...value };
  for (const name of ['error', 'message', 'description', 'errors']) {
    const reason = members[name];
    if (typeof reason === 'string' && reason !== '') return reason;
    if (Array.isArray(reason) && reason.length > 0) return JSON.stringify(reason);
  }
  return undefined;
}
