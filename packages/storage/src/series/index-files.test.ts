// Files of indexes that are abandoned during a write.
import { systemClock } from '@tidemark/core';
import { expect, test } from 'vitest';

import { Turns } from '../schedule/turns.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { IndexFiles } from './index-files.ts';
import { IndexCache } from './index-cache.ts';
import { SeriesIndex } from './series-index.ts';
import { StoredIndex } from './stored-index.ts';

const FILE_ID = 7;

function indexWith(series: number): StoredIndex {
  const index = new SeriesIndex('db', new IndexCache(1 << 16));
  const measurement = index.addMeasurement('m');
  for (let i = 0; i < series; i++) index.addSeries(measurement, [['t', String(i)]]);
  return new StoredIndex(index, FILE_ID);
}

test('an index that is given up while its log is written leaves no file and no failure', async () => {
  const disk = new SimulatedDisk();
  disk.makeDirectory('/data/index');
  const turns = new Turns({ clock: systemClock(), sliceMs: 1 });
  const files = new IndexFiles({ disk, directory: '/data', turns, log: () => undefined });
  const stored = indexWith(3);
  disk.gate = async () => files.removeOthers([]);

  await files.persist(stored, 'flush');

  expect(disk.paths()).toEqual([]);
  disk.gate = async () => files.removeOthers([FILE_ID]);
  await files.persist(indexWith(3), 'flush');
  expect(disk.paths()).toEqual(['/data/index/00000007.series']);
});
