// Builds the page if one of its sources is newer than the last build.
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const PACKAGES = new URL('../', import.meta.url);
const FOLDERS = [
  'ui',
  'core',
  'line-protocol',
  'influxql',
  'tickscript',
  'client',
  'query',
  'pipeline',
];
const FILES = ['ui/index.html', 'ui/vite.config.ts', 'ui/package.json'];

const timeOf = (path) => statSync(new URL(path, PACKAGES), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function newest(folder) {
  const entries = readdirSync(new URL(folder, PACKAGES), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .reduce(
      (time, { parentPath, name }) => Math.max(time, statSync(`${parentPath}/${name}`).mtimeMs),
      0,
    );
}

const changed = Math.max(...FILES.map(timeOf), ...FOLDERS.map((name) => newest(`${name}/src`)));
if (changed > timeOf('ui/build/index.html')) {
  await build({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)) });
}
