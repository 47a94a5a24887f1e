// Gives tests the source of some files with a text replaced, as MUTANT says (`mutant.ts`).
import type { Plugin } from 'vitest/config';

import type { Edit } from './mutant.ts';

/** Threads and processes that tests start load their source without it. */
export function mutantPlugin(): Plugin {
  const edits = JSON.parse(process.env['MUTANT'] ?? '[]') as readonly Edit[];
  return {
    name: 'mutant',
    enforce: 'pre',
    // Node.js would load the source without the plugin.
    config: () => ({ test: { experimental: { viteModuleRunner: true } } }),
    transform: (code, id) => {
      const own = edits.filter(({ file }) => id.endsWith(`/${file}`));
      return own.reduce((source, { from, to }) => source.replace(from, () => to), code);
    },
  };
}
