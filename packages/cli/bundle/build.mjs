// Bundles the programs (programs.cjs) from the packages' built modules, and stores V8's code cache
// for them (docs/adr/0009-bundle.md). Does nothing if the bundle is up to date. `--no-code`: only
// bundles.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import runtime from '../bin/runtime.cjs';
import loader from '../../process/boot/bundle-loader.cjs';
import { EXTERNAL, WITH_FIRST_USE } from './external.mjs';
import programs from './programs.cjs';

const { SMALL_FLAGS } = runtime;
const { BUNDLE_DIRECTORY, CODE, isBundleCurrent, PACKAGES, PROGRAMS, THREADS } = programs;

const wantsCode = !process.argv.includes('--no-code');
if (!isBundleCurrent() || isOlderThanBuildFiles()) await bundle();
if (wantsCode && !hasCode()) keepCode();
if (wantsCode && process.execArgv.join() !== SMALL_FLAGS.join()) {
  // Repeats the run for `--profile small`, in a process with its flags.
  const { status } = spawnSync(process.execPath, [...SMALL_FLAGS, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

function isOlderThanBuildFiles() {
  const made = statSync(join(BUNDLE_DIRECTORY, 'tidemark.cjs')).mtimeMs;
  const files = [
    'build.mjs',
    'external.mjs',
    'programs.cjs',
    '../../process/boot/bundle-loader.cjs',
    '../bin/runtime.cjs',
  ];
  return files.some((file) => statSync(new URL(file, import.meta.url)).mtimeMs > made);
}

async function bundle() {
  const require = createRequire(join(BUNDLE_DIRECTORY, 'tidemark.cjs'));
  for (const name of EXTERNAL) require.resolve(name);
  mkdirSync(BUNDLE_DIRECTORY, { recursive: true });
  const { outputFiles, warnings } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(PROGRAMS).map(([name, module]) => [name, join(PACKAGES, module)]),
    ),
    outdir: BUNDLE_DIRECTORY,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    // `import()` of external packages becomes `require`: programs are not modules that V8 could
    // import from.
    supported: { 'dynamic-import': false },
    external: EXTERNAL,
    sourcemap: 'linked',
    sourcesContent: false,
    minifyWhitespace: true,
    banner: { js: loader.PROGRAM_BEGIN },
    footer: { js: loader.PROGRAM_END },
    plugins: [
      { name: 'module-addresses', setup: keepModuleAddresses },
      { name: 'load-with-first-use', setup: loadWithFirstUse },
    ],
  });
  if (warnings.length > 0) throw new Error('the bundler warns: see above');
  // Including the files of an identical program: another build may have made its code cache
  // differently.
  for (const file of readdirSync(BUNDLE_DIRECTORY)) {
    if (file.endsWith('.code')) rmSync(join(BUNDLE_DIRECTORY, file));
  }
  // Programs last, and the executable after its threads' programs: its presence marks the bundle as
  // complete.
  const rank = ({ path }) =>
    path.endsWith('.map') ? 0 : basename(path) === 'tidemark.cjs' ? 2 : 1;
  for (const { path, contents } of outputFiles.toSorted((a, b) => rank(a) - rank(b))) {
    replaceFile(path, rank({ path }) === 0 ? contents : withContentId(contents));
  }
}

/**
 * Modules find their files by their own address; in the bundle this is their former address,
 * relative to the bundle.
 */
function keepModuleAddresses({ onLoad }) {
  onLoad({ filter: /[/\\]packages[/\\][^/\\]+[/\\]dist[/\\].*\.js$/ }, ({ path }) => {
    const text = readFileSync(path, 'utf8');
    if (!text.includes('import.meta.url')) return undefined;
    const place = JSON.stringify(relative(BUNDLE_DIRECTORY, path));
    const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${place})).href`;
    return { contents: text.replaceAll('import.meta.url', address), loader: 'js' };
  });
}

/**
 * Replaces the modules of `WITH_FIRST_USE` by an object with their names that loads them when one
 * is read. Only for `import`: `require` returns the module itself.
 */
function loadWithFirstUse({ onResolve, onLoad }) {
  const require = createRequire(join(BUNDLE_DIRECTORY, 'tidemark.cjs'));
  const namespace = 'first-use';
  onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) =>
    kind === 'import-statement' && WITH_FIRST_USE.includes(path) ? { path, namespace } : undefined,
  );
  onLoad({ filter: /./, namespace }, ({ path }) => {
    const load = `require(${JSON.stringify(path)})`;
    const names = Object.keys(require(path)).filter((name) => name !== 'default');
    const getters = names.map((name) => `get ${name}() { return ${load}.${name}; }`);
    return {
      contents: `module.exports = {
        __esModule: true,
        get default() { return ${load}; },
        ${getters.join(',\n')}
      };`,
      loader: 'js',
    };
  });
}

/**
 * The loader reads bytes as characters. The bundler leaves non-ASCII text only in regular
 * expressions and comments, where an escape means the same.
 */
function withContentId(contents) {
  const text = Buffer.from(contents)
    .toString('utf8')
    .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const id = createHash('sha256').update(text).digest('hex').slice(0, loader.CONTENT_ID_LENGTH);
  return `${text}//${id}`;
}

/** Atomically, so that another process never reads a partial file. */
function replaceFile(path, contents) {
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

/** Programs with the kinds of use whose code is cached. */
function codes() {
  const threads = new Set(Object.values(THREADS).flat());
  return [
    ...Object.keys(THREADS).map((kind) => ['tidemark', kind]),
    ...Array.from(threads, (name) => [name, CODE.thread]),
  ];
}

/** Whether V8 accepts the whole code cache, in a process started with this one's flags. */
function hasCode() {
  return codes().every(([name, kind]) => loader.compile(BUNDLE_DIRECTORY, name, kind).isCached);
}

/**
 * Performs each kind of use once and stores what V8 compiled. The last runs follow a clean stop and
 * a crash.
 */
function keepCode() {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-build-'));
  const bind = ['--data-dir', directory, '--log-level', 'error'];
  const up = ['up', ...bind];
  for (const name of ['--tsdb-bind', '--engine-bind', '--ui-bind']) up.push(name, '127.0.0.1:0');
  try {
    const isDone =
      runOnce('stop', up) &&
      runOnce('crash', up) &&
      runOnce(CODE.services, up) &&
      runOnce(CODE.database, ['tsdb', ...bind, '--bind', '127.0.0.1:0']) &&
      runOnce(CODE.commands, ['--help']);
    // The bundle works without a code cache, only slower: a machine without loopback can still
    // build. But nobody would notice a cache that V8 refuses.
    if (isDone && !hasCode()) throw new Error('V8 refuses the code that it made: other flags?');
    if (!isDone)
      process.stderr.write('no compiled code is kept: Tidemark will start more slowly\n');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * A run that does not end is killed and tried once more: Node.js may hang in `process.exit`
 * (nodejs/node#54918).
 */
function runOnce(purpose, line) {
  const script = fileURLToPath(new URL('warm-up.cjs', import.meta.url));
  const run = () =>
    spawnSync(process.execPath, [...process.execArgv, script, purpose, ...line], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // The builder's environment must not affect these services.
      env: { PATH: process.env.PATH, TIDEMARK_KEEP_CODE: 'code' },
      timeout: 60_000,
      // Other signals are handled in JavaScript, which no longer runs then.
      killSignal: 'SIGKILL',
    });
  const { status, error } = run();
  return (error?.code === 'ETIMEDOUT' ? run() : { status }).status === 0;
}
