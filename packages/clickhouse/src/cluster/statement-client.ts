// Sends statements and reads their answers as a whole. `@clickhouse/client` waits for a timer
// before each request and pipes the answer through several streams: a trivial statement takes 2.0
// ms with it and 0.5 ms without, and 0.55 and 0.17 ms of CPU time
// (docs/adr/0024-reads-without-the-client.md).
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import { parseError } from '@clickhouse/client';

import { LIMITS } from '../limits.ts';

export type Statement = {
  readonly sql: string;
  /** Parameters of the URL: settings and the query id. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** Ends the wait, but not the statement on the server. */
  readonly signal: AbortSignal;
};

/** Sends idempotent statements to one server. */
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
      // An idle connection is closed after this time.
      timeout: LIMITS.idleConnectionMs.value,
    };
    this.#agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#open = isSecure ? httpsRequest : httpRequest;
    const user = [username, password].map(decodeURIComponent).join(':');
    this.#options = {
      method: 'POST',
      agent: this.#agent,
      // In a URL an IPv6 address is in brackets.
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? undefined : Number(port),
      auth: user === ':' ? undefined : user,
    };
  }

  /** Returns the answer. Rejects with the server's error, as `@clickhouse/client` does. */
  async send(statement: Statement): Promise<Buffer> {
    for (;;) {
      const call = this.#request(statement);
      try {
        return await bytesOf(call);
      } catch (error) {
        // The server has closed an idle connection; the statement is sent again on a new one.
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
