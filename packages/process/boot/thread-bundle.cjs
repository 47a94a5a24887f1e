// Starts a thread from a bundle: directory and name of the program are its first arguments. With
// `early` as the third one its data comes later (early-threads.cjs).
'use strict';
const threads = require('node:worker_threads');
const { loadBundle } = require('./bundle-loader.cjs');

const [, , directory, name, when] = process.argv;
if (when === 'early') waitForData(threads.workerData);
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

/** Whoever reads `workerData` waits until the message with it has come, which `signal` tells. */
function waitForData(signal) {
  let message;
  Object.defineProperty(threads, 'workerData', {
    get: () => {
      Atomics.wait(signal, 0, 0);
      message ??= threads.receiveMessageOnPort(threads.parentPort).message;
      return message;
    },
  });
}
