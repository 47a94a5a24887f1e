// Starts a thread from a bundle: directory and name of the program are its first arguments.
'use strict';
const { loadBundle } = require('./bundle-loader.cjs');

const [, , directory, name] = process.argv;
const program = loadBundle(directory, name, 'thread');

// Set by the build only, which keeps the code of a thread that has worked
// (packages/cli/bundle/warm-up.cjs).
if (process.env.TIDEMARK_KEEP_CODE !== undefined) {
  const channel = new BroadcastChannel(process.env.TIDEMARK_KEEP_CODE);
  channel.unref();
  channel.onmessage = ({ data }) => {
    if (data === 'keep') channel.postMessage({ name, code: program.compiledCode() });
  };
}
