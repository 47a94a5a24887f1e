// One of the two servers, by URL.
import { DATABASE } from './data.ts';
import type { Line } from './data.ts';

const REQUEST_TIMEOUT_MS = 10_000;

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
    const body = lines.join('\n');
    await this.#expectOk(this.#post('/write', { db: DATABASE, precision: 's' }, body));
  }

  query(text: string): Promise<Answer> {
    const query = new URLSearchParams({ db: DATABASE, q: text });
    return this.#send(`/query?${query.toString()}`, { method: 'GET' });
  }

  #post(path: string, parameters: Readonly<Record<string, string>>, body = ''): Promise<Answer> {
    const query = new URLSearchParams(parameters).toString();
    return this.#send(`${path}?${query}`, { method: 'POST', body });
  }

  async #send(path: string, init: RequestInit): Promise<Answer> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(this.#url + path, { ...init, signal });
    return { status: response.status, body: await response.text() };
  }

  async #expectOk(answer: Promise<Answer>): Promise<void> {
    const { status, body } = await answer;
    if (status >= 300 || body.includes('"error"')) throw new Error(`${status} ${body}`);
  }
}
