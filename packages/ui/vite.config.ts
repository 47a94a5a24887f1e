// Bundles the web application into build/, which the executable serves. Packages come from their
// sources, so that the page needs nothing that was built before it.
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** Packages of which the page takes single functions. */
const SHAKEN = /packages\/(?:core|influxql|tickscript|pipeline|query|client|line-protocol)\//;

/**
 * What of a package only a server uses is left out of the bundle; until then its imports have to
 * lead somewhere.
 */
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
    // Inlined files would be `data:` addresses of scripts' neighbours, which the policy of the page
    // allows images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !SHAKEN.test(id) } },
  },
});
