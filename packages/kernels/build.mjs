// Compiles assembly/ to build/kernels.wasm. Does nothing when the sources, this file and the
// compiler are unchanged, and fails when a side of the border differs from its description (abi/).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { outdatedFiles } from './abi/generate.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const buildDir = join(root, 'build');
const wasmFile = join(buildDir, 'kernels.wasm');
const hashFile = join(buildDir, 'kernels.hash');

const outdated = outdatedFiles();
if (outdated.length > 0) {
  const files = outdated.join(', ');
  throw new Error(
    `generated files differ from abi/; change abi/, then \`npm run abi -w @tidemark/kernels\`. files=${files}`,
  );
}
const hash = sourceHash();
if (hash !== readOptional(hashFile) || readOptional(wasmFile) === undefined) {
  await compile();
  // Written last and atomically: an interrupted build is not taken for a finished one.
  writeFileSync(`${hashFile}.${process.pid}`, hash);
  renameSync(`${hashFile}.${process.pid}`, hashFile);
}

function sourceHash() {
  const digest = createHash('sha256');
  const compiler = createRequire(import.meta.url)('assemblyscript/package.json');
  digest.update(compiler.version);
  digest.update(readFileSync(fileURLToPath(import.meta.url)));
  for (const name of readdirSync(join(root, 'assembly')).toSorted()) {
    if (!name.endsWith('.ts')) continue;
    digest.update(`\n${name}\n`);
    digest.update(readFileSync(join(root, 'assembly', name)));
  }
  return digest.digest('hex');
}

async function compile() {
  // Loaded only here: the compiler takes half a second to load.
  const { main } = await import('assemblyscript/asc');
  mkdirSync(buildDir, { recursive: true });
  // Two processes may build at once; each renames its own complete file.
  const temporary = `kernels.${process.pid}.wasm`;
  const { error, stderr } = await main([
    'assembly/index.gen.ts',
    '--baseDir',
    root,
    '--outFile',
    `build/${temporary}`,
    '--runtime',
    'stub',
    '--noAssert',
    '--optimizeLevel',
    '3',
    '--shrinkLevel',
    '0',
    '--converge',
    '--enable',
    'simd',
    '--enable',
    'bulk-memory',
    '--use',
    'abort=',
  ]);
  if (error) {
    process.stderr.write(stderr.toString());
    throw error;
  }
  renameSync(join(buildDir, temporary), wasmFile);
}

function readOptional(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
