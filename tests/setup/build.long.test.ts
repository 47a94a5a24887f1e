// If the build fails, the test run fails too, and no older build is tested.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { buildForTests } from './build.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemark-build-'));
});

afterEach(() => rmSync(root, { recursive: true }));

const SOUND = {
  'package.json': '{"scripts": {"build:kernels": "true"}}',
  'tsconfig.json': '{"compilerOptions": {"types": [], "outDir": "dist"}, "files": ["a.ts"]}',
  'a.ts': 'export const n: number = 1;',
  'packages/cli/bundle/build.mjs': '',
  'packages/ui/build-when-changed.mjs': '',
};

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const escaped = (text: string): string => text.replaceAll(/[()]/g, '\\$&');

test('a sound repository is built', () => {
  write(SOUND);

  expect(() => buildForTests(root)).not.toThrow();
});

test.each([
  ['the kernels', { 'package.json': '{"scripts": {"build:kernels": "echo no & exit 1"}}' }, 'no'],
  ['the packages', { 'a.ts': "export const n: number = 'text';" }, 'a.ts(1,14): error TS2322'],
  ['the bundle', { 'packages/cli/bundle/build.mjs': "throw new Error('warns')" }, 'warns'],
  ['the page', { 'packages/ui/build-when-changed.mjs': "throw new Error('no page')" }, 'no page'],
])('%s with a fault fail the run, with what the compiler said', (what, fault, said) => {
  write({ ...SOUND, ...fault });

  const failing = `${what} cannot be built, so nothing is tested`;
  // Built once: compilers take their time.
  expect(() => buildForTests(root)).toThrow(new RegExp(`${failing}[^]*${escaped(said)}`));
});
