// Statements whose answers are read as a whole. The client waits a turn of the timers before each
// request and takes an answer through several streams, which a query for a few values notices: a
// statement without work takes 2.0 ms with it and 0.5 ms without, and 0.55 and 0.17 ms of processor
// time (docs/adr/0024-reads-without-the-client.md).
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import { parseError } from '@clickhouse/client';

import { LIMITS } from '../limits.ts';

export type Statement = {
  readonly sql: string;
  /** Of the URL: settings, and the id of the query. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** Ends the wait, not the statement. */
  readonly signal: AbortSignal;
};

/** Sends statements to one server that may be sent twice. */
export class StatementClient {
  readonly #agent: HttpAgent;
  readonly #open: typeof httpRequest;
  readonly #options: RequestOptions;

  constructor(url: string) {
    const { protocol, hostname, port, username, password } = new URL(url);
    const isSecure = protocol === 'https:';
    const options = {
      keepAlive: true,
      maxSockets: LIMITS.connections.value,
      // Of a connection that is not used.
      timeout: LIMITS.idleConnectionMs.value,
    };
    this.#agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#open = isSecure ? httpsRequest : httpRequest;
    const user = [username, password].map(decodeURIComponent).join(':');
    this.#options = {
      method: 'POST',
      agent: this.#agent,
      // As URLs have them, an address of IPv6 is in brackets.
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? undefined : Number(port),
      auth: user === ':' ? undefined : user,
    };
  }

  /** Gives the answer. Rejects with the server's error, as `@clickhouse/client` does. */
  async send(statement: Statement): Promise<Buffer> {
    for (;;) {
      const call = this.#request(statement);
      try {
        return await bytesOf(call);
      } catch (error) {
        // The server has closed a connection that was idle; a new one is as good.
        const isStale = call.reusedSocket && (error as { code?: string }).code === 'ECONNRESET';
        if (!isStale || statement.signal.aborted) throw error;
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #request({ sql, parameters, signal }: Statement): ClientRequest {
    const query = Object.entries(parameters).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    );
    const call = this.#open({ ...this.#options, path: `/?${query.join('&')}`, signal });
    call.setTimeout(LIMITS.requestMs.value, () => call.destroy(new Error('Timeout error.')));
    call.end(sql);
    return call;
  }
}

function bytesOf(call: ClientRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    call.on('error', reject);
    call.on('response', (response: IncomingMessage) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const [only] = parts;
        const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
        if (response.statusCode === 200) resolve(bytes);
        else reject(parseError(bytes.toString('utf8')));
      });
    });
  });
}
