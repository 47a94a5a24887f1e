// The peers of the engine: a database that gives every query the same result, and a receiver of
// alerts.
import { TestServer } from '@tidemark/testkit';
import type { ReceivedRequest, ServerAnswer } from '@tidemark/testkit';

import { DATA_BEGIN, QUERY_VALUES } from './jobs-model.ts';

export async function startPeer(): Promise<TestServer> {
  const server = new TestServer(answer);
  await server.open();
  return server;
}

function answer({ path, body }: ReceivedRequest): ServerAnswer {
  const url = new URL(path, 'http://peer');
  const headers = { 'X-Influxdb-Version': '1.6.7', 'Content-Type': 'application/json' };
  if (url.pathname !== '/query') return { status: 204, headers };
  const form = new URLSearchParams(body);
  const text = url.searchParams.get('q') ?? form.get('q') ?? '';
  const epoch = url.searchParams.get('epoch') ?? form.get('epoch') ?? '';
  const name = /\bm\d\b/.exec(text)?.[0];
  if (name === undefined) return { headers, body: '{"results":[{}]}' };
  const time =
    epoch === 'ns' ? `${DATA_BEGIN}000000000` : `"${new Date(DATA_BEGIN * 1000).toISOString()}"`;
  const values = QUERY_VALUES.map((value) => `[${time},${value}]`);
  return {
    headers,
    body: `{"results":[{"series":[{"name":"${name}","columns":["time","v"],"values":[${values.join()}]}]}]}`,
  };
}
