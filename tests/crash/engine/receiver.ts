// Receives alerts over HTTP as a handler's other end: sometimes slow, sometimes unwilling. Keeps
// what it has accepted.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Delivered = {
  /** Path of the handler that sent it. */
  readonly handler: string;
  readonly id: string;
  readonly level: string;
  readonly time: string;
  /** Which life of the engine sent it. */
  readonly generation: number;
};

export type Receiver = {
  readonly url: string;
  readonly delivered: readonly Delivered[];
  /** A new life of the engine begins. */
  nextGeneration(): void;
  /** From now on everything is accepted at once. */
  calm(): void;
  close(): Promise<void>;
};

const REFUSED_SHARE = 0.01;
const SLOW_SHARE = 0.05;
const SLOW_MS = 20;

export async function openReceiver(random: () => number): Promise<Receiver> {
  const delivered: Delivered[] = [];
  let generation = 0;
  let isCalm = false;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, level, time } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Delivered;
      const dice = isCalm ? 1 : random();
      if (dice < REFUSED_SHARE) {
        response.writeHead(503).end();
        return;
      }
      delivered.push({ handler: request.url ?? '', id, level, time, generation });
      if (dice < SLOW_SHARE) setTimeout(() => response.end(), SLOW_MS);
      else response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    nextGeneration: () => void generation++,
    calm: () => {
      isCalm = true;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
