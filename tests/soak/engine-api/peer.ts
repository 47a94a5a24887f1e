// What the engine talks to: a database that gives every query the same answer, and a receiver of
// alerts.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { DATA_BEGIN, QUERY_VALUES } from './jobs-model.ts';

export type Peer = { readonly url: string; close(): Promise<void> };

export async function startPeer(): Promise<Peer> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(new URL(request.url ?? '/', 'http://peer'), chunks, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(url: URL, body: readonly Buffer[], response: http.ServerResponse): void {
  response.setHeader('X-Influxdb-Version', '1.6.7');
  if (url.pathname !== '/query') {
    response.writeHead(204).end();
    return;
  }
  const form = new URLSearchParams(Buffer.concat(body).toString());
  const text = url.searchParams.get('q') ?? form.get('q') ?? '';
  const epoch = url.searchParams.get('epoch') ?? form.get('epoch') ?? '';
  const name = /\bm\d\b/.exec(text)?.[0];
  response.setHeader('Content-Type', 'application/json');
  if (name === undefined) {
    response.end('{"results":[{}]}');
    return;
  }
  const time =
    epoch === 'ns' ? `${DATA_BEGIN}000000000` : `"${new Date(DATA_BEGIN * 1000).toISOString()}"`;
  const values = QUERY_VALUES.map((value) => `[${time},${value}]`);
  response.end(
    `{"results":[{"series":[{"name":"${name}","columns":["time","v"],"values":[${values.join()}]}]}]}`,
  );
}
