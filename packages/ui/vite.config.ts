// Bundles the web application into build/, which the executable serves. Packages are read from
// source, so that the page needs no earlier build.
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** Packages of which the page uses single functions. */
const SHAKEN = /packages\/(?:core|influxql|tickscript|pipeline|query|client|line-protocol)\//;

/** Server-only modules are left out of the bundle; until then their imports must resolve. */
function withoutNode(): Plugin {
  const EMPTY = '\0node-module.cjs';
  return {
    name: 'without-node',
    enforce: 'pre',
    resolveId: (id) =>
      id.startsWith('node:') || id === '@tidemark/kernels'
        ? { id: EMPTY, moduleSideEffects: false }
        : null,
    load: (id) => (id === EMPTY ? 'module.exports = {};' : null),
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  plugins: [withoutNode()],
  resolve: { conditions: ['source', 'module', 'browser', 'production'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'build',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would be `data:` addresses, which the content security policy allows only for
    // images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !SHAKEN.test(id) } },
  },
});
