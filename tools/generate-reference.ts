// Writes docs/reference. Run with `npm run docs`; a test fails when the pages are not up to date.
import { mkdirSync, writeFileSync } from 'node:fs';

import { referencePages } from './reference-pages.ts';

const directory = new URL('../docs/reference/', import.meta.url);
mkdirSync(directory, { recursive: true });
for (const [name, text] of await referencePages()) writeFileSync(new URL(name, directory), text);
