// A table remembers the values that were read last: a change must not be hidden by that.
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { Metadata } from './metadata.ts';

test('a value that was read is read again when it has changed, and is gone when it is removed', async () => {
  const directory = await makeDirectory();
  const metadata = await Metadata.open(directory);
  const table = metadata.table<{ readonly n: number }>('templates');

  // Values of one length: LMDB may write the second one over the first.
  for (const n of [1, 2, 1]) {
    await table.put('a', { n });
    expect(table.get('a')).toEqual({ n });
    expect(table.get('a')).toEqual({ n });
  }
  await table.remove('a');
  expect(table.get('a')).toBeUndefined();

  await metadata.close();
  await removeDirectory(directory);
});
