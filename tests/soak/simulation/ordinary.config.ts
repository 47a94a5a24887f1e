// Tests of the storage engine that do one thing at a time, on a source in which a text is replaced
// as MUTANT says (`npm run soak:mutants -- --ordinary`).
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import base from '../../../vitest.config.ts';
import type { Edit } from '../mutants/mutant.ts';
import { AT_ONCE } from './at-once.ts';

const edits = JSON.parse(process.env['MUTANT'] ?? '[]') as readonly Edit[];
// Threads of the engine load their source without the plugin.
const PATCH = fileURLToPath(new URL('../mutants/patch-source.mjs', import.meta.url));
const { execArgv = [], globalSetup: _none, projects: _both, ...test } = base.test ?? {};

export default defineConfig({
  ...base,
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform: (code, id) => {
        const own = edits.filter(({ file }) => id.endsWith(`/${file}`));
        return own.reduce((source, { from, to }) => source.replace(from, () => to), code);
      },
    },
  ],
  test: {
    ...test,
    execArgv: [...execArgv, '--import', PATCH],
    maxWorkers: 2,
    include: ['packages/storage/src/**/*.test.ts'],
    exclude: ['**/*.long.test.ts', ...AT_ONCE.map(({ file }) => `packages/storage/src/${file}`)],
  },
});
