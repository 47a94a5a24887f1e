import { expect, test } from 'vitest';

import { openAll, OpenParts } from './open-parts.ts';

test('parts are closed once, the last one first, also when one can not be closed', async () => {
  const closed: string[] = [];
  const parts = new OpenParts();
  parts.add(() => void closed.push('first'));
  parts.add(async () => {
    closed.push('second');
    throw new Error('no');
  });
  parts.add(async () => void closed.push('third'));

  const closing = [parts.close(), parts.close()];

  await expect(Promise.all(closing)).rejects.toThrow('no');
  await expect(closing[1]).rejects.toThrow('no');
  expect(closed).toEqual(['third', 'second', 'first']);
});

test('a part that can not be opened closes those before it and is the reason', async () => {
  const events: string[] = [];
  const opening = openAll(
    async (parts) => {
      parts.add(() => void events.push('closed'));
      parts.add(() => {
        throw new Error('can not be closed');
      });
      throw new Error('can not be opened');
    },
    (error) => events.push(String(error)),
  );

  await expect(opening).rejects.toThrow('can not be opened');
  expect(events).toEqual(['closed', 'Error: can not be closed']);
});
