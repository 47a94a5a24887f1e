// Task tests inside of a test file: the text is that of a `.task-test` file,
// docs/guide/task-tests.md.
import { systemClock } from '@tidemark/core';
import { runTaskTests } from '@tidemark/engine/task-test';
import { expect, test } from 'vitest';

/** Makes a test of each `test NAME` of the text. */
export function taskTests(text: string): void {
  const names = [...text.matchAll(/^test (.*)$/gm)].map((match) => match[1] ?? '');
  const readScript = (): never => {
    throw new Error('scripts stand in the text');
  };
  // All at once, when the first of them runs: they take a few milliseconds each.
  let running: ReturnType<typeof runTaskTests> | undefined;
  test.each(names)('%s', async (name) => {
    running ??= runTaskTests(text, { clock: systemClock(), readScript });
    const found = (await running).find((result) => result.name === name);

    expect(found?.failures).toEqual([]);
    expect(found?.checkCount).toBeGreaterThan(0);
  });
}
