// Bundles the web application into build/, which the executable serves.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: 'build', emptyOutDir: true, target: 'es2022' },
});
