import { Cancelled, Unavailable } from '@tidemark/core';
import { Driver } from '@tidemark/query';
import type { ResultBatch } from '@tidemark/query';
import { expect, test } from 'vitest';

import { acts } from './context.ts';
import type { StatementContext } from './context.ts';

/** Runs a change, ends its query while it is under way, and then lets it come to its end. */
async function endedMeanwhile(work: () => Promise<unknown>): Promise<readonly ResultBatch[]> {
  const query = new AbortController();
  const driver = new Driver({
    supervision: () => ({ signal: query.signal }),
    monotonicMs: () => 0,
  });
  const handler = acts(async () => {
    query.abort(new Cancelled('query engine shutdown'));
    return work();
  });
  const batches: ResultBatch[] = [];
  for await (const batch of driver.batches(handler({}, {} as StatementContext)))
    batches.push(batch);
  return batches;
}

test('a change is answered as done, although its query was ended meanwhile', async () => {
  expect(await endedMeanwhile(() => Promise.resolve())).toEqual([]);
});

test('a change that was refused is answered with the reason', async () => {
  const refused = new Unavailable('log can not be written');
  await expect(endedMeanwhile(() => Promise.reject(refused))).rejects.toBe(refused);
});
