// Writes the fixture of the current catalog format: `packages/cli/bin/node --conditions=source
// src/catalog/make-fixture.ts DIR`. Run it once per released version; old fixtures are never made
// again.
import { replaceCatalog } from './catalog-file.ts';
import { Catalog } from './catalog.ts';
import { fillCatalog } from './fixture-data.ts';

const [, , directory = ''] = process.argv;
// The checkpoint has no users and tokens, the journal has them.
await replaceCatalog(directory, { ...fillCatalog(), users: new Map(), tokens: new Map() });
const catalog = await Catalog.open(directory);
await catalog.change(() => fillCatalog());
await catalog.close();
