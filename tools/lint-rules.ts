// Writes the lint rules of the map to `.oxlintrc.layers.json`. Runs before every `npm run lint`.
import { readFileSync, writeFileSync } from 'node:fs';

import { lintRules, mapsOf } from './layers.ts';

const root = new URL('../', import.meta.url);
const architecture = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
writeFileSync(new URL('.oxlintrc.layers.json', root), lintRules(mapsOf(architecture)));
