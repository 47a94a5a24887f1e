// Writes the fixture of the present format version: `node --conditions=source --import tsx src/testing/make-fixture.ts DIR`.
// Run it once per released version; old fixtures are never made again.
import { backupFixture, fillFixture } from './fixture-data.ts';
import { openStorageInline } from '../open-inline.ts';

const [, , directory = ''] = process.argv;
const engine = await openStorageInline({
  directory: `${directory}/data`,
  hasBackgroundWork: false,
});
await fillFixture(engine);
await backupFixture(engine, `${directory}/backup`);
await engine.close();
