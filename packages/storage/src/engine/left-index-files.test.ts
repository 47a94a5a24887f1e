// Index files that no manifest names.
import { expect, test } from 'vitest';
import type { StorageEngine } from '@tidemark/storage-api';

import { write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { openStorageInline } from './open-inline.ts';

const open = (disk: SimulatedDisk): Promise<StorageEngine> =>
  openStorageInline({ directory: '/data', hasBackgroundWork: false }, { disk });

test('the number of an index file that is there is not given to another database', async () => {
  const disk = new SimulatedDisk();
  const engine = await open(disk);
  await write(engine, 'm,t=a v=1 1');
  await engine.flush();
  await engine.close();
  // A rebuild left it when a crash ended it. It is removed, and a power cut could bring it back.
  disk.open('/data/index/00000002.series', 'create').close();

  const after = await open(disk);
  await write(after, 'm,t=b v=1 1', { id: 2, database: 'other' });
  await after.flush();

  const files = disk.paths().filter((path) => path.endsWith('.series'));
  expect(files).toEqual(['/data/index/00000001.series', '/data/index/00000003.series']);
});
