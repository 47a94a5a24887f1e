// The registries have every node and handler that is in its folder, and each has a file of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { REGISTRIES, REGISTRY_FILE, registryText } from '../../tools/registries.ts';

const root = new URL('../../', import.meta.url);

test.each(REGISTRIES)('the registry of $folder is up to date (npm run docs)', (registry) => {
  const folder = fileURLToPath(new URL(`${registry.folder}/`, root));

  expect(readFileSync(`${folder}${REGISTRY_FILE}`, 'utf8')).toBe(registryText(folder, registry));
});

test.each(REGISTRIES)('a file of $folder has one of each list at most', ({ folder, lists }) => {
  const path = fileURLToPath(new URL(`${folder}/`, root));
  const counts = readdirSync(path)
    .filter((name) => name.endsWith('.ts') && name !== REGISTRY_FILE)
    .flatMap((name) => {
      const text = readFileSync(`${path}${name}`, 'utf8');
      return lists.map(({ pattern }) => ({ name, count: [...text.matchAll(pattern)].length }));
    });

  expect(counts.filter(({ count }) => count > 0)).not.toEqual([]);
  expect(counts.filter(({ count }) => count > 1)).toEqual([]);
});
