// The metadata is closed while somebody still reads it: a long shared log is written again from it,
// piece by piece.
import { Unavailable } from '@tidemark/core';
import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { Metadata } from './metadata.ts';

test('reading everything ends with a reason when the file is closed meanwhile', async () => {
  const directory = await makeDirectory();
  const metadata = await Metadata.open(directory);
  for (const id of ['a', 'b']) await metadata.table<object>('templates').put(id, {});
  const reading = metadata.shared()[Symbol.iterator]();
  reading.next();

  await metadata.close();

  expect(() => reading.next()).toThrow(Unavailable);
  await removeDirectory(directory);
});
