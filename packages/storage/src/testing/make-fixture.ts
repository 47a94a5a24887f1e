// Writes the fixture of the current format version: `node --conditions=source --import tsx
// src/testing/make-fixture.ts DIR`. Run it once per released version; old fixtures are never made
// again.
import { nodeDisk } from '../disk/node-disk.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { writeCheckpoint } from '../series/checkpoint.ts';
import {
  backupFixture,
  fillFixture,
  rebuiltFixtureIndex,
  rebuildIndex,
  shareChunks,
  writeMessages,
} from './fixture-data.ts';

const [, , directory = ''] = process.argv;
const engine = await openStorageInline({
  directory: `${directory}/data`,
  hasBackgroundWork: false,
  deletedSeriesMin: 1,
});
await rebuildIndex(engine);
await shareChunks(engine);
await writeMessages(engine);
await fillFixture(engine);
await backupFixture(engine, `${directory}/backup`);
await engine.close();

const index = rebuiltFixtureIndex();
await writeCheckpoint(
  index,
  { measurements: index.measurements.length, series: index.seriesEnd, logBytes: 123 },
  {
    disk: nodeDisk(),
    directory,
    path: `${directory}/checkpoint`,
    pause: async () => {},
    syncLog: async () => {},
  },
);
