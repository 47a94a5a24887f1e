// One of the two engines of an import: a Kapacitor 1.x under its own path, or a Tidemark engine.
import { AppError, Unavailable } from '@tidemark/core';
import { asObject, parseJson, printJson } from '../formats/json.ts';

export type Json = Readonly<Record<string, unknown>>;

const PAGE = 100;
const REQUEST_TIMEOUT_MS = 30_000;
const OLD_BASE = '/kapacitor/v1';
const NEW_BASE = '/engine/v1';

/** A refusal of one of the servers, in its words. */
export class Refused extends AppError {
  override readonly name = 'Refused';
  readonly code = 'REFUSED';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type ServerAccess = {
  readonly token?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ends requests, and with them the import. */
  readonly signal?: AbortSignal | undefined;
};

/** Requests to one engine, as the user that its address names. */
export class Server {
  readonly #origin: string;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal | undefined;

  private constructor(url: URL, base: string, { token, headers, signal }: ServerAccess) {
    this.#origin = url.origin;
    this.#base = base;
    this.#signal = signal;
    const user = decodeURIComponent(url.username);
    const pair = Buffer.from(`${user}:${decodeURIComponent(url.password)}`).toString('base64');
    const authorization =
      token === undefined ? (user === '' ? undefined : `Basic ${pair}`) : `Bearer ${token}`;
    this.#headers = {
      ...headers,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
  }

  /** Finds the path of the API. Rejects with `Unavailable` when none answers. */
  static async open(text: string, access: ServerAccess = {}): Promise<Server> {
    const url = new URL(text);
    for (const base of [NEW_BASE, OLD_BASE]) {
      const server = new Server(url, base, access);
      const status = await server.#status('GET', `${base}/ping`);
      if (status === 204 || status === 200) return server;
      if (status === 401)
        throw new Refused(401, `${url.host} requires a user and a password, or a token`);
    }
    throw new Unavailable(`no task engine answers at ${url.origin}`);
  }

  get(path: string): Promise<Json> {
    return this.send('GET', path);
  }

  /** `preview/…` is below the preview path. Rejects with `Refused` if the answer is no success. */
  async send(method: string, path: string, body?: unknown): Promise<Json> {
    const url = path.startsWith('preview/')
      ? `${this.#base}preview/${path.slice('preview/'.length)}`
      : `${this.#base}/${path}`;
    const response = await this.#fetch(method, url, body);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) {
      return bytes.length === 0 ? {} : asObject(parseJson(bytes, ''), 'expected an object');
    }
    throw new Refused(response.status, reasonOf(bytes, response.status));
  }

  /** The document, or `undefined` when there is none. */
  async find(path: string): Promise<Json | undefined> {
    try {
      return await this.get(path);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All items of a list, page by page. */
  async *list(path: string, name: string): AsyncIterable<Json> {
    for (let offset = 0; ; offset += PAGE) {
      const separator = path.includes('?') ? '&' : '?';
      const page = await this.get(`${path}${separator}offset=${offset}&limit=${PAGE}`);
      const items = Array.isArray(page[name]) ? (page[name] as readonly Json[]) : [];
      yield* items;
      if (items.length < PAGE) return;
    }
  }

  async #status(method: string, path: string): Promise<number> {
    const response = await this.#fetch(method, path);
    await response.arrayBuffer();
    return response.status;
  }

  async #fetch(method: string, path: string, body?: unknown): Promise<Response> {
    try {
      return await fetch(this.#origin + path, {
        method,
        headers: this.#headers,
        signal: AbortSignal.any([
          AbortSignal.timeout(REQUEST_TIMEOUT_MS),
          ...(this.#signal === undefined ? [] : [this.#signal]),
        ]),
        ...(body === undefined ? {} : { body: printJson(body) }),
      });
    } catch (cause) {
      throw new Unavailable(`${this.#origin} does not answer: ${reasonFor(cause)}`, { cause });
    }
  }
}

function reasonOf(bytes: Uint8Array, status: number): string {
  try {
    const { error } = asObject(parseJson(bytes, ''), '');
    return typeof error === 'string' ? error : `answered ${status}`;
  } catch {
    // Not JSON: the bare text is the reason.
    return Buffer.from(bytes).toString('utf8').trim() || `answered ${status}`;
  }
}

/** Why a request had no answer: `fetch` has that in the cause of its error. */
function reasonFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
