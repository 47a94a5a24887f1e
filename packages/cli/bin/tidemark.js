#!/usr/bin/env node
// The executable. Committed JavaScript, because npm does not link a bin that a build creates. Runs
// on the pinned Node.js (docs/adr/0029-runtime.md), whichever one started it, and loads the bundle,
// which starts in a third of the time of the modules it is made of (docs/adr/0009-bundle.md).
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { loadBundle } = require('../../process/boot/bundle-loader.cjs');
const { startEarly } = require('../../process/boot/early-threads.cjs');
const {
  BUNDLE_DIRECTORY,
  codeOf,
  earlyThreadsOf,
  isBundleCurrent,
} = require('../bundle/programs.cjs');
const { withRuntime } = require('./runtime.cjs');

const modules = join(__dirname, '../dist/main.js');

/** How long what is still open may hold back the end of a command. */
const END_MS = 100;

/** `--enable-source-maps` works for what Node loads itself; stack traces name sources then. */
function wantsSourceMaps() {
  const name = '--enable-source-maps';
  return process.execArgv.includes(name) || process.env.NODE_OPTIONS?.includes(name) === true;
}

async function load(argv) {
  if (!isBundleCurrent() || (wantsSourceMaps() && existsSync(modules))) return import(modules);
  const threads = startEarly(BUNDLE_DIRECTORY, earlyThreadsOf(argv));
  return loadBundle(BUNDLE_DIRECTORY, 'tidemark', codeOf(argv), threads).exports;
}

async function run(argv) {
  const { main } = await load(argv);
  process.exitCode = await main(argv);
  // `process.exit` waits for threads of V8, and those that compile may wait for this one, forever
  // (nodejs/node#54918): a process that has nothing left to do ends by itself. What is still open
  // (an idle keep-alive connection, a timer) must not hold a finished command back.
  setTimeout(() => process.exit(), END_MS).unref();
}

// What is installed has the bundle alone, a repository the modules.
if (isBundleCurrent() || existsSync(modules)) {
  withRuntime(() => void run(process.argv.slice(2)));
} else {
  process.stderr.write(
    'tidemark is not built yet. Run `npm ci` (or `npm run build`) in its folder first.\n',
  );
  process.exit(1);
}
