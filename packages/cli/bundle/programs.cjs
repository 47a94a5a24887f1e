// What is bundled, and whether the bundle is of the present build. Read at every start, therefore
// short and CommonJS.
'use strict';
const { readdirSync, statSync } = require('node:fs');
const { join } = require('node:path');

const PACKAGES = join(__dirname, '../..');

/** Where the bundle is. */
const BUNDLE_DIRECTORY = join(__dirname, '../build');

/**
 * Built modules that processes and threads start with, by the program's name
 * (packages/process/src/thread.ts).
 */
const PROGRAMS = {
  tidemark: 'cli/dist/main.js',
  'storage-thread-host': 'storage/dist/thread/host.js',
  'storage-thread-reader': 'storage/dist/thread/reader.js',
  'cluster-lease-thread': 'cluster/dist/lease-thread.js',
  'runtime-host-host-thread': 'runtime/dist/host/host-thread.js',
};

/**
 * Kinds of use of the executable. The code that each of them compiles is kept apart: what is read
 * must be little.
 */
const CODE = { database: 'database', services: 'services', commands: 'commands', thread: 'thread' };

/** Threads whose code is kept, by the kind of use that starts them. */
const THREADS = {
  [CODE.services]: ['storage-thread-host', 'runtime-host-host-thread'],
  [CODE.database]: ['storage-thread-host'],
  [CODE.commands]: [],
};

const CODE_OF_SERVICE = { tsdb: CODE.database, engine: CODE.services, up: CODE.services };

/**
 * Which kept code a command line needs. What follows the name of a service and is no flag is a
 * short command.
 */
function codeOf([command, second]) {
  const isShort = second !== undefined && !second.startsWith('-');
  return (isShort ? undefined : CODE_OF_SERVICE[command]) ?? CODE.commands;
}

/** The storage thread, with the options of `packages/storage/src/thread/connection.ts`. */
const STORAGE = {
  'storage-thread-host': { name: 'storage', resourceLimits: { maxYoungGenerationSizeMb: 12 } },
};

/**
 * Threads that a command line needs in any case, with the options of their workers: they start
 * before the program is loaded (packages/process/boot/early-threads.cjs).
 */
function earlyThreadsOf([command, second]) {
  const isService = second === undefined || second.startsWith('-');
  return isService && (command === 'tsdb' || command === 'up') ? STORAGE : {};
}

/**
 * Whether the bundle is not older than what the compiler wrote last: after `tsc -b` alone the
 * modules are run, not the bundle of an earlier state of them.
 */
function isBundleCurrent() {
  const options = { throwIfNoEntry: false };
  const made = statSync(join(BUNDLE_DIRECTORY, 'tidemark.cjs'), options)?.mtimeMs;
  if (made === undefined) return false;
  return readdirSync(PACKAGES).every((name) => {
    const info = statSync(join(PACKAGES, name, 'dist/.tsbuildinfo'), options);
    return info === undefined || info.mtimeMs <= made;
  });
}

module.exports = {
  BUNDLE_DIRECTORY,
  CODE,
  codeOf,
  earlyThreadsOf,
  isBundleCurrent,
  PACKAGES,
  PROGRAMS,
  THREADS,
};
