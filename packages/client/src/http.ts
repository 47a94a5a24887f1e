// One HTTP exchange with a service: JSON in, JSON out, errors as the classes of @tidemark/core.
import type { Diagnostic } from '@tidemark/core';
import {
  Conflict,
  Forbidden,
  Internal,
  InvalidRequest,
  NotFound,
  Unauthorized,
  Unavailable,
} from '@tidemark/core';

import { parseLossless, printLossless } from './lossless.ts';

export type ClientOptions = {
  /** Base URL of the service, without a path. User and password in it become basic authentication. */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string | undefined;
  /** Default 30 s; streams have none. */
  readonly timeoutMs?: number | undefined;
  /** How requests are sent, for transports that the platform's own does not know. */
  readonly fetch?: typeof fetch | undefined;
};

export type RequestOptions = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | undefined;
  /** Repeated parameters as arrays; `undefined` is left out. */
  readonly search?:
    | Readonly<Record<string, string | number | readonly string[] | undefined>>
    | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array<ArrayBuffer> | URLSearchParams | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
};

const DEFAULT_TIMEOUT_MS = 30_000;

/** Sends requests to one service. */
export class HttpConnection {
  readonly #base: URL;
  readonly #authorization: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    const base = parseUrl(options.url);
    const username = options.username ?? decodeURIComponent(base.username);
    const password = options.password ?? decodeURIComponent(base.password);
    base.username = '';
    base.password = '';
    this.#base = base;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    // Looked up at each call, so that a page or a test that replaces the platform's own is heard.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    if (options.token !== undefined) this.#authorization = `Bearer ${options.token}`;
    else if (username !== '') this.#authorization = `Basic ${btoa(`${username}:${password}`)}`;
  }

  get url(): string {
    return this.#base.href.replace(/\/$/, '');
  }

  /** The response; a status of 400 or more throws with the service's own text. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await this.sendRaw(path, options);
    if (response.status >= 400) throw (await readFailure(response)).error;
    return response;
  }

  /** The response whatever its status; throws `Unavailable` when there is none. */
  async sendRaw(path: string, options: RequestOptions = {}): Promise<Response> {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(options.search ?? {})) {
      if (value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [String(value)])
        url.searchParams.append(name, one);
    }
    const headers = new Headers(options.headers);
    if (this.#authorization !== undefined) headers.set('Authorization', this.#authorization);
    const body = options.json === undefined ? options.body : printLossless(options.json);
    if (options.json !== undefined) headers.set('Content-Type', 'application/json');
    try {
      return await this.#fetch(url, {
        method: options.method ?? 'GET',
        headers,
        signal: options.signal ?? AbortSignal.timeout(this.#timeoutMs),
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      throw new Unavailable(`${this.url} does not answer: ${causeOf(error)}`, {
        cause: error,
        hint: 'Is the service running, and is this its address?',
      });
    }
  }

  /** The JSON document of the answer, long integers as `bigint`; `undefined` when the answer is empty. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    const text = await (await this.send(path, options)).text();
    return (text === '' ? undefined : parseLossless(text)) as T;
  }
}

function parseUrl(text: string): URL {
  try {
    return new URL(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  } catch (error) {
    throw new InvalidRequest(`not a URL: ${text}`, { cause: error });
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** The error that a response of status 400 or more means, and the document it came with (empty when it is no JSON). */
export async function readFailure(
  response: Response,
): Promise<{ readonly error: Error; readonly document: FailureDocument }> {
  const text = await response.text();
  const plain = text.trim() === '' ? `${response.status} ${response.statusText}` : text.trim();
  const document = documentOf(text);
  const message = typeof document.error === 'string' ? document.error : plain;
  const diagnostics = Array.isArray(document.diagnostics)
    ? document.diagnostics.map(diagnosticOf)
    : undefined;
  return { error: errorOf(response.status, message, diagnostics), document };
}

type FailureDocument = Readonly<Record<string, unknown>>;

function documentOf(text: string): FailureDocument {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? { ...document } : {};
  } catch {
    // Not JSON: the text itself is the message.
    return {};
  }
}

function errorOf(
  status: number,
  message: string,
  diagnostics: readonly ScriptDiagnostic[] | undefined,
): Error {
  switch (status) {
    case 401:
      return new Unauthorized(message);
    case 403:
      return new Forbidden(message);
    case 404:
      return new NotFound(message);
    case 409:
      return new Conflict(message);
    case 429:
    case 503:
      return new Unavailable(message);
    default:
      return status >= 500
        ? new Internal(message, { diagnostics })
        : new InvalidRequest(message, { diagnostics });
  }
}

/** A finding about a script, as the engine answers it. Lines and columns are one-based. */
export type ScriptDiagnostic = Diagnostic & {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly found?: string | undefined;
  readonly expected?: readonly string[] | undefined;
};

/** A finding as the engine answers it, with its place as a span. */
export function diagnosticOf(json: ResponseDiagnostic): ScriptDiagnostic {
  const { position, length, ...rest } = json;
  return { ...rest, span: { start: position, end: position + length } };
}

/** A finding in an answer: position and length in UTF-16 code units. */
export type ResponseDiagnostic = Omit<ScriptDiagnostic, 'span'> & {
  readonly position: number;
  readonly length: number;
};
