// One of the two servers, by URL.
import { DATABASE } from './data.ts';
import type { Line } from './data.ts';
import { msgpackText } from './msgpack.ts';
import { PLAIN } from './ways.ts';
import type { Way } from './ways.ts';

/** Long enough for a machine that is busy with other things; `fuzz.ts` reports what is slow. */
const REQUEST_TIMEOUT_MS = 300_000;

/** A longer statement comes as a form: no server reads URLs of any length. */
const URL_CHARACTERS = 4000;

export type Answer = { readonly status: number; readonly body: string };

export class Server {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url.replace(/\/$/, '');
  }

  /** Replaces the whole database by these points. */
  async load(lines: readonly Line[]): Promise<void> {
    await this.#post('/query', { q: `DROP DATABASE ${DATABASE}` });
    await this.#expectOk(this.#post('/query', { q: `CREATE DATABASE ${DATABASE}` }));
    if (lines.length === 0) return;
    await this.#expectOk(this.write(lines.join('\n')));
  }

  /** MessagePack comes as text, see `msgpack.ts`. */
  query(text: string, { parameters, accept, isForm }: Way = PLAIN): Promise<Answer> {
    const query = new URLSearchParams({ db: DATABASE, q: text, ...parameters });
    const headers = accept === undefined ? {} : { Accept: accept };
    const isLong = text.length > URL_CHARACTERS;
    return isForm === true || isLong || !/^(SELECT(?!.* INTO )|SHOW)/.test(text)
      ? this.#send('/query', { method: 'POST', body: query, headers })
      : this.#send(`/query?${query.toString()}`, { method: 'GET', headers });
  }

  write(body: string): Promise<Answer> {
    return this.#post('/write', { db: DATABASE, precision: 's' }, body);
  }

  #post(path: string, parameters: Readonly<Record<string, string>>, body = ''): Promise<Answer> {
    const query = new URLSearchParams(parameters).toString();
    return this.#send(`${path}?${query}`, { method: 'POST', body });
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(this.#url + path, { ...init, signal });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isPacked = response.headers.get('content-type') === 'application/x-msgpack';
    return { status: response.status, body: isPacked ? msgpackText(bytes) : bytes.toString() };
  }

  async #expectOk(answer: Promise<Answer>): Promise<void> {
    const { status, body } = await answer;
    if (status >= 300 || body.includes('"error"')) throw new Error(`${status} ${body}`);
  }
}
