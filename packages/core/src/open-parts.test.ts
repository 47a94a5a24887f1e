import { expect, test } from 'vitest';

import { openAll, OpenParts } from './open-parts.ts';

test('parts are closed once, the last one first, also when one cannot be closed', async () => {
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

test('a part that cannot be opened closes those before it and is the reason', async () => {
  const events: string[] = [];
  const opening = openAll(
    async (parts) => {
      parts.add(() => void events.push('closed'));
      parts.add(() => {
        throw new Error('cannot be closed');
      });
      throw new Error('cannot be opened');
    },
    (error) => events.push(String(error)),
  );

  await expect(opening).rejects.toThrow('cannot be opened');
  expect(events).toEqual(['closed', 'Error: cannot be closed']);
});
