// Writers of a benchmark: connections that send batches as fast as they are accepted, or at a given
// rate.
import { once } from 'node:events';
import { request } from 'node:http';
import type { Agent, IncomingMessage } from 'node:http';

const VALUES_PER_ROW = 10;

/** Sends a request and reads the answer to its end; its status. */
export async function send(
  url: string,
  agent: Agent,
  body: Uint8Array | undefined,
): Promise<number> {
  const outgoing = request(url, { agent, method: body === undefined ? 'GET' : 'POST' });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}

export type WriterOptions = {
  readonly url: string;
  readonly agent: Agent;
  /** Taken from the end. */
  readonly bodies: Uint8Array[];
  readonly rowsPerBody: number;
  readonly connections: number;
  /** Where they are written, as parameters of the request. */
  readonly into?: string | undefined;
};

/**
 * Writes for a while or until no body is left, each connection one every `everyMs`; returns values
 * per second.
 */
export async function write(
  options: WriterOptions,
  { durationMs, everyMs }: { readonly durationMs: number; readonly everyMs: number },
): Promise<number> {
  const { url, agent, bodies, rowsPerBody, connections, into = 'db=bench' } = options;
  const began = performance.now();
  let values = 0;
  const one = async (): Promise<void> => {
    for (let round = 0; performance.now() - began < durationMs; round++) {
      const wait = began + round * everyMs - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const body = bodies.pop();
      if (body === undefined) return;
      const status = await send(`${url}/write?${into}`, agent, body);
      if (status !== 204) throw new Error(`write answered ${status}`);
      values += rowsPerBody * VALUES_PER_ROW;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return (values * 1000) / (performance.now() - began);
}
