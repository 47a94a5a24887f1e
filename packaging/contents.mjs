// What is installed of Tidemark: the bundle, what it loads beside itself, and the packages that are
// not in it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { EXTERNAL } from '../packages/cli/bundle/external.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** As they lie in the repository, by which the bundle finds them. */
const FILES = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs/guide',
  'docs/reference',
  'docs/compat',
  'packages/cli/bin',
  'packages/cli/bundle/programs.cjs',
  'packages/cli/build/tidemark.cjs',
  'packages/cli/build/storage-thread-host.cjs',
  'packages/cli/build/runtime-host-host-thread.cjs',
  'packages/process/boot/bundle-loader.cjs',
  'packages/process/boot/early-threads.cjs',
  'packages/process/boot/thread-bundle.cjs',
  'packages/engine/read-store.mjs',
  'packages/kernels/build/kernels.wasm',
  'packages/ui/build',
];

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Writes the tree with a `package.json` that names exactly the packages this build was tested with;
 * the version.
 */
export function writeTree(directory) {
  for (const file of FILES) {
    if (!existsSync(join(ROOT, file)))
      throw new Error(`${file} is missing: npm run build makes it`);
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(join(ROOT, file), join(directory, file), { recursive: true });
  }
  const { version, description, license, engines } = read(join(ROOT, 'package.json'));
  const versionOf = (name) => read(join(ROOT, 'node_modules', name, 'package.json')).version;
  const dependencies = Object.fromEntries(EXTERNAL.map((name) => [name, versionOf(name)]));
  const { optionalDependencies } = read(join(ROOT, 'packaging/runtime/package.json'));
  const bin = { tidemark: 'packages/cli/bin/tidemark' };
  const scripts = { preinstall: 'sh packages/cli/bin/check-runtime.sh' };
  const document = {
    name: 'tidemark',
    version,
    description,
    license,
    type: 'module',
    bin,
    scripts,
    engines,
  };
  const text = JSON.stringify({ ...document, dependencies, optionalDependencies }, undefined, 2);
  writeFileSync(join(directory, 'package.json'), `${text}\n`);
  return version;
}

/**
 * Copies the packages that are not bundled, with everything they need, as they are installed for
 * this machine.
 */
export function copyDependencies(directory) {
  const done = new Set();
  const copy = (name, from) => {
    const source = [join(from, 'node_modules', name), join(ROOT, 'node_modules', name)].find(
      (path) => existsSync(path),
    );
    // Optional ones are for other machines.
    if (source === undefined || done.has(source)) return;
    done.add(source);
    const target = join(directory, source.slice(ROOT.length));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target, { recursive: true });
    const { dependencies = {}, optionalDependencies = {} } = read(join(source, 'package.json'));
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }))
      copy(each, source);
  };
  for (const name of EXTERNAL) copy(name, ROOT);
  copyRuntime(directory);
}

/** The pinned Node.js of this machine, without what only compilers read. */
function copyRuntime(directory) {
  const installed = join(ROOT, 'packaging/runtime/node_modules');
  const names = existsSync(installed) ? readdirSync(installed) : [];
  const name = names.find((each) => each.startsWith('node-'));
  if (name === undefined) throw new Error('the pinned Node.js is not installed: npm ci does it');
  for (const file of ['bin/node', 'LICENSE', 'package.json'])
    cpSync(join(installed, name, file), join(directory, 'node_modules', name, file));
}
