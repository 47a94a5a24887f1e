// Changes whose query is ended while they are under way, in the loop that writes all answers.
import { Cancelled, Unavailable } from '@tidemark/core';
import { Driver, writeResults } from '@tidemark/query';
import { expect, test } from 'vitest';

import { acts } from './context.ts';
import type { StatementContext } from './context.ts';

const REASON = 'query engine shutdown';

/** Answers to changes; the query of the first is killed while it runs. */
async function answer(changes: readonly (() => Promise<unknown>)[]): Promise<unknown> {
  const query = new AbortController();
  const { signal } = query;
  const driver = new Driver({ supervision: () => ({ signal }), monotonicMs: () => 0 });
  const statements = changes.map((change) => {
    const handler = acts(async () => {
      query.abort(new Cancelled(REASON));
      return change();
    });
    return { run: () => handler({}, { signal } as StatementContext) };
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of driver.batches(writeResults(statements, { encoding: 'json' }))) {
    pieces.push(piece);
  }
  return (JSON.parse(Buffer.concat(pieces).toString()) as { results: unknown }).results;
}

const settled = (): Promise<void> => Promise.resolve();

test('a change is answered as done, although its query was ended meanwhile', async () => {
  expect(await answer([settled])).toEqual([{ statement_id: 0 }]);
});

test('a change that was refused is answered with the reason', async () => {
  const refused = new Unavailable('log cannot be written');
  const results = await answer([() => Promise.reject(refused)]);
  expect(results).toEqual([{ statement_id: 0, error: refused.message }]);
});

test('later statements of the request are not started', async () => {
  let hasBegun = false;
  const results = await answer([
    settled,
    () => {
      hasBegun = true;
      return settled();
    },
  ]);
  expect(results).toEqual([{ statement_id: 0 }, { statement_id: 1, error: REASON }]);
  expect(hasBegun).toBe(false);
});
