// The registries have every node and handler that is in its folder.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { REGISTRIES, REGISTRY_FILE, registryText } from '../../tools/registries.ts';

const root = new URL('../../', import.meta.url);

test.each(REGISTRIES)('the registry of $folder is up to date (npm run docs)', (registry) => {
  const folder = fileURLToPath(new URL(`${registry.folder}/`, root));

  expect(readFileSync(`${folder}${REGISTRY_FILE}`, 'utf8')).toBe(registryText(folder, registry));
});
