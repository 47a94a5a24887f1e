// Writes the lint rules of the map to `.oxlintrc.layers.json`, and refuses words that documents and
// comments do without. Runs before every `npm run lint`.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { lintRules, mapsOf } from './layers.ts';
import { wordFaults } from './words.ts';

const root = new URL('../', import.meta.url);
const architecture = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
writeFileSync(new URL('.oxlintrc.layers.json', root), lintRules(mapsOf(architecture)));

/** Pages generated from texts of the product; the list itself and its test; recorded texts. */
const UNCHECKED =
  /^docs\/reference\/|^tools\/words\.ts$|^tests\/docs\/words\.test\.ts$|\/fixtures\//;
const faults = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.tsx', '*.mjs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !UNCHECKED.test(file) && existsSync(new URL(file, root)))
  .flatMap((file) =>
    wordFaults(file, readFileSync(new URL(file, root), 'utf8')).map(
      ({ line, found, instead }) => `${file}:${line}: “${found}”; write: ${instead}`,
    ),
  );
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exitCode = 1;
}
