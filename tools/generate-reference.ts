// Generates registries and docs/reference from code. Run with `npm run docs`; tests fail if they
// are not up to date.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { REGISTRIES, REGISTRY_FILE, registryText } from './registries.ts';

const root = new URL('../', import.meta.url);
for (const registry of REGISTRIES) {
  const folder = new URL(`${registry.folder}/`, root);
  writeFileSync(new URL(REGISTRY_FILE, folder), registryText(fileURLToPath(folder), registry));
}

// Not before: the pages are of what the registries now have.
const { referencePages } = await import('./reference-pages.ts');
const directory = new URL('docs/reference/', root);
mkdirSync(directory, { recursive: true });
for (const [name, text] of await referencePages()) writeFileSync(new URL(name, directory), text);
