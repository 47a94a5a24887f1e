// One request and its response, and the headers of every response.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { Cancelled, COMPAT_VERSION, TIDEMARK_VERSION } from '@tidemark/core';
import type { Part } from '@tidemark/core';
import type { BorderGuard, BorderRefusal } from '@tidemark/process';
import type { DiagnosticDocument } from '@tidemark/query';

import type { TsdbConfig } from '../config/schema.ts';
import { Parameters } from './parameters.ts';

/** The settings that determine headers. */
export type HeaderSettings = {
  /** Send `X-Influxdb-*`, for clients that read them. */
  readonly hasCompatHeaders: boolean;
  /** Sent with every answer. */
  readonly common: readonly (readonly [name: string, value: string])[];
};

/** The versions and `http.headers`. */
export function headerSettings({ compatRoutes, headers }: TsdbConfig['http']): HeaderSettings {
  const common = Object.entries({
    'X-Tsdb-Version': TIDEMARK_VERSION,
    ...(compatRoutes && { 'X-Influxdb-Version': COMPAT_VERSION, 'X-Influxdb-Build': 'OSS' }),
    ...headers,
  });
  return { hasCompatHeaders: compatRoutes, common };
}

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  /** Parameters of the URL, without those of the body. */
  readonly parameters: Parameters;
  readonly requestId: string;
  /** Address of the client, without port. */
  readonly remoteAddress: string;
  readonly settings: HeaderSettings;
  /** Why the listener of the request does not serve it. */
  readonly refusal: BorderRefusal | undefined;
  /** Its parts of budgets; released when it is answered. */
  readonly parts: Part[];
  /** Set by authentication, for logs and counters. */
  userName: string;
  /** The unverified name that the client gave, because authentication is off. */
  claimedName?: string;
  /** The faults of a query that is refused as a whole; set if the client asks for them. */
  diagnostics?: readonly DiagnosticDocument[];
};

/** Reads the request line and headers, and sets the headers that every answer has. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  settings: HeaderSettings,
  border: BorderGuard,
): Exchange {
  const url = request.url ?? '/';
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  const requestId =
    textHeader(request, 'x-request-id') ?? textHeader(request, 'request-id') ?? randomUUID();
  response.setHeader('Request-Id', requestId);
  response.setHeader('X-Request-Id', requestId);
  for (const [name, value] of settings.common) response.setHeader(name, value);
  for (const [name, value] of Object.entries(border.corsHeaders(request))) {
    response.setHeader(name, value);
  }
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path,
    parameters: Parameters.parse(question < 0 ? '' : url.slice(question + 1)),
    requestId,
    remoteAddress: border.clientAddress(request),
    settings,
    refusal: border.refusal(request),
    parts: [],
    userName: '',
  };
}

/** Aborted when the client goes away. */
export function goneSignal({ response }: Pick<Exchange, 'response'>): AbortSignal {
  const gone = new AbortController();
  const end = (): void => gone.abort(new Cancelled('the client closed the connection'));
  if (response.destroyed) end();
  response.once('close', end);
  return gone.signal;
}

// An echoed header must not contain bytes that end it.
const SAFE_HEADER = /^[\x20-\x7e]{1,200}$/;

function textHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && SAFE_HEADER.test(value) ? value : undefined;
}
