import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { nodeDisk } from '../disk/node-disk.ts';
import { checkpointPath } from './checkpoint.ts';
import { IndexLog } from './index-log.ts';
import { SeriesIndex } from './series-index.ts';
import { applyAdditions } from './index-additions.ts';
import { StoredIndex } from './stored-index.ts';

const disk = nodeDisk();
const FILE_ID = 1;

function addSeries(index: SeriesIndex, hosts: readonly string[]): void {
  const measurement = index.addMeasurement('cpu');
  for (const host of hosts) index.addSeries(measurement, [['host', host]]);
}

test('series that reach the index log while a checkpoint is written are read from the log', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stored-index-'));
  try {
    const stored = new StoredIndex(new SeriesIndex('db'), FILE_ID);
    const log = new IndexLog(disk, directory, FILE_ID);
    const persist = async (): Promise<void> => {
      const { portions, end } = stored.unpersisted()!;
      const options = { end: stored.persistedEnd, pause: async () => {}, keep: async () => {} };
      stored.persisted({ ...end, ...(await log.append(portions, options)) });
    };
    addSeries(stored.index, ['a', 'b']);
    await persist();
    const path = checkpointPath(directory, FILE_ID);
    let isFirst = true;
    const pause = async (): Promise<void> => {
      if (!isFirst) return;
      isFirst = false;
      addSeries(stored.index, ['c', 'd']);
      await persist();
    };

    const syncLog = async (): Promise<void> => {};
    await stored.writeCheckpoint({ disk, directory, path, pause, syncLog });

    const opened = new StoredIndex(new SeriesIndex('db'), FILE_ID);
    const covered = opened.readCheckpoint({ disk, path });
    expect(opened.index.seriesEnd).toBe(2);
    const { additions } = log.read({ from: covered });
    for (const entry of additions) applyAdditions(opened.index, entry);
    const keys = Array.from({ length: opened.index.seriesEnd }, (_, id) =>
      opened.index.seriesKey(id),
    );
    expect(keys).toEqual(['cpu,host=a', 'cpu,host=b', 'cpu,host=c', 'cpu,host=d']);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
