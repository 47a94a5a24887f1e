import { expect, test } from 'vitest';

import { httpSender } from '@tidemark/settings';
import { optionsGiven, TestServer } from '@tidemark/testkit';
import { TSDB_SECTION } from '../config/cluster-section.ts';
import { Clusters } from './clusters.ts';

test('an answer that is larger than task.max-query-response ends the query and says so', async () => {
  const answer = JSON.stringify({ results: [{ series: [{ name: 'm', columns: ['time', 'v'] }] }] });
  const database = new TestServer(() => ({ body: answer }));
  await database.open();
  const urls = [database.url];
  const sender = httpSender();
  const ask = (bytesMax: number): Promise<unknown> => {
    const clusters = new Clusters(sender, { queryResponseBytesMax: bytesMax });
    clusters.update([optionsGiven(TSDB_SECTION.options, { name: 'default', urls })]);
    return clusters.query('', 'SELECT v FROM m', AbortSignal.timeout(10_000));
  };

  await expect(ask(answer.length)).resolves.toMatchObject([{ name: 'm' }]);
  await expect(ask(answer.length - 1)).rejects.toThrow('task.max-query-response');

  await sender.close();
  await database.close();
});
