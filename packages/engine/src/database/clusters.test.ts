import http from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { httpSender } from '@tidemark/settings';
import { optionsGiven } from '@tidemark/testkit';
import { TSDB_SECTION } from './cluster-section.ts';
import { Clusters } from './clusters.ts';

test('an answer that is larger than task.max-query-response ends the query and says so', async () => {
  const answer = JSON.stringify({ results: [{ series: [{ name: 'm', columns: ['time', 'v'] }] }] });
  const database = http.createServer((_, response) => response.end(answer));
  await new Promise<void>((resolve) => database.listen(0, '127.0.0.1', resolve));
  const urls = [`http://127.0.0.1:${(database.address() as AddressInfo).port}`];
  const sender = httpSender();
  const ask = (bytesMax: number): Promise<unknown> => {
    const clusters = new Clusters(sender, { queryResponseBytesMax: bytesMax });
    clusters.update([optionsGiven(TSDB_SECTION.options, { name: 'default', urls })]);
    return clusters.query('', 'SELECT v FROM m', AbortSignal.timeout(10_000));
  };

  await expect(ask(answer.length)).resolves.toMatchObject([{ name: 'm' }]);
  await expect(ask(answer.length - 1)).rejects.toThrow('task.max-query-response');

  await sender.close();
  await new Promise((resolve) => database.close(resolve));
});
