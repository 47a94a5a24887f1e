// Writes the fixture of the current catalog format: `packages/cli/bin/node --conditions=source
// src/catalog/make-fixture.ts DIR`. Run it once per released version; old fixtures are never made
// again.
import { fillCatalog } from './fixture-data.ts';
import { Catalog } from './catalog.ts';

const [, , directory = ''] = process.argv;
const catalog = await Catalog.open(directory);
await catalog.change(() => fillCatalog());
await catalog.close();
