// Writes what is made from code and documents: docs/reference and the lint rules of the map. Run
// with `npm run docs`; tests fail when they are not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { lintRules, mapsOf } from './layers.ts';
import { referencePages } from './reference-pages.ts';

const root = new URL('../', import.meta.url);
const directory = new URL('docs/reference/', root);
mkdirSync(directory, { recursive: true });
for (const [name, text] of await referencePages()) writeFileSync(new URL(name, directory), text);
const architecture = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
writeFileSync(new URL('.oxlintrc.layers.json', root), lintRules(mapsOf(architecture)));
