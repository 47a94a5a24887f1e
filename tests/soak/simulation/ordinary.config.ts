// Tests of the storage engine that do one thing at a time, on a source in which a text is replaced
// as MUTANT says (`npm run soak:mutants -- --ordinary`).
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import base from '../../../vitest.config.ts';
import { mutantPlugin } from '../mutants/mutant-plugin.ts';
import { AT_ONCE } from './at-once.ts';

// Threads of the engine load their source without the plugin.
const PATCH = fileURLToPath(new URL('../mutants/patch-source.mjs', import.meta.url));
const files = AT_ONCE.flatMap(({ file, test }) => (test === undefined ? [file] : []));
const names = AT_ONCE.flatMap(({ test }) => (test === undefined ? [] : [test]));
const { execArgv = [], globalSetup: _none, projects: _both, ...test } = base.test ?? {};

export default defineConfig({
  ...base,
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  plugins: [mutantPlugin()],
  test: {
    ...test,
    execArgv: [...execArgv, '--import', PATCH],
    maxWorkers: 2,
    // A test that fails only because the machine is busy has not noticed the mutant.
    retry: 2,
    include: ['packages/storage/src/**/*.test.ts'],
    exclude: ['**/*.{long,soak}.test.ts', ...files.map((file) => `packages/storage/src/${file}`)],
    testNamePattern: new RegExp(`^(?!.*(?:${names.join('|')}))`, 'v'),
  },
});
