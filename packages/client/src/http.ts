// One HTTP exchange with a service: JSON in, JSON out, errors as the classes of @tidemark/core.
import type { Diagnostic } from '@tidemark/core';
import {
  Conflict,
  Forbidden,
  Internal,
  InvalidRequest,
  messageOf,
  NotFound,
  Unauthorized,
  Unavailable,
} from '@tidemark/core';

import { parseLossless, printLossless } from './lossless.ts';

export type ClientOptions = {
  /**
   * Base URL of the service, without a path. User and password in it become basic authentication.
   */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string | undefined;
  /** Default 30 s; streams have none. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the platform's `fetch`, for other transports. */
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
    // Looked up at each call, so that replacing the platform's own takes effect.
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
    const response = await this.#fetch(url, {
      method: options.method ?? 'GET',
      headers,
      signal: options.signal ?? AbortSignal.timeout(this.#timeoutMs),
      ...(body === undefined ? {} : { body }),
    }).catch((error: unknown) => {
      throw options.signal?.aborted === true ? error : noAnswer(this.#base, error);
    });
    const stranger = strangerOf(url, response);
    if (stranger !== undefined) throw stranger;
    return response;
  }

  /**
   * The JSON document of the answer, long integers as `bigint`; `undefined` when the answer is
   * empty.
   */
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

/** Why there was no answer, and what to do about it. */
function noAnswer(base: URL, error: unknown): Unavailable {
  const url = base.href.replace(/\/$/, '');
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code = '' } = cause as NodeJS.ErrnoException;
  const options = (hint: string) => ({ cause: error, hint });
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO') {
    const plain = url.replace('https:', 'http:');
    return new Unavailable(`${url} answers, but not with TLS`, options(`Try ${plain}`));
  }
  if (CERTIFICATE_CODES.test(code)) {
    return new Unavailable(
      `the certificate of ${url} is not trusted: ${messageOf(cause)}`,
      options(
        'Name its authority with NODE_EXTRA_CA_CERTS=FILE, or do not verify it (--unsafe-ssl in the shell, --skip-verify elsewhere)',
      ),
    );
  }
  const isCut = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code.startsWith('HPE_');
  return new Unavailable(
    `${url} does not answer: ${messageOf(cause)}`,
    options(
      isCut && base.protocol === 'http:'
        ? `Does it want TLS? Then write ${url.replace('http:', 'https:')}`
        : 'Is the service running, and is this its address?',
    ),
  );
}

const CERTIFICATE_CODES = /SELF_SIGNED|UNABLE_TO_|^CERT_|ALTNAME_INVALID/;

/** The error for a response of status 400 or more, and its document (empty if it is not JSON). */
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

/**
 * Whether the request went to the other service: both identify themselves, and they share no path
 * but `/ping`.
 */
function strangerOf(
  { pathname, origin }: URL,
  { status, headers }: Response,
): NotFound | undefined {
  if (status !== 404 && pathname !== '/ping') return undefined;
  const isForEngine = /^\/(?:engine|kapacitor)\//.test(pathname);
  const isEngine = headers.has('x-engine-version') || headers.has('x-kapacitor-version');
  const isDatabase = headers.has('x-tsdb-version') || headers.has('x-influxdb-version');
  if (isForEngine && isDatabase && !isEngine)
    return new NotFound(`${origin} is a database, not a task engine`, {
      hint: 'The engine listens on port 9092 unless http.bind-address says otherwise: --url http://127.0.0.1:9092',
    });
  if (!isForEngine && isEngine)
    return new NotFound(`${origin} is a task engine, not a database`, {
      hint: 'The database listens on port 8086 unless http.bind-address says otherwise: --url http://127.0.0.1:8086',
    });
  return undefined;
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

/** A finding about a script, as in the engine's answers. Lines and columns are one-based. */
export type ScriptDiagnostic = Diagnostic & {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly found?: string | undefined;
  readonly expected?: readonly string[] | undefined;
};

/** Converts a finding of the engine, with its position as a span. */
export function diagnosticOf(json: ResponseDiagnostic): ScriptDiagnostic {
  const { position, length, ...rest } = json;
  return { ...rest, span: { start: position, end: position + length } };
}

/** A finding in an answer: position and length in UTF-16 code units. */
export type ResponseDiagnostic = Omit<ScriptDiagnostic, 'span'> & {
  readonly position: number;
  readonly length: number;
};
