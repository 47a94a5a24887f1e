// Threads that a program needs in any case start before the program itself is loaded, so that both
// load at once.
'use strict';
const { join } = require('node:path');
const { Worker } = require('node:worker_threads');

/**
 * Starts the threads `programs` of the bundle in `directory`: options of a worker by the program's
 * name. Each loads its program, and waits where that reads its data until `give` is called. It does
 * not keep the process running until then.
 */
function startEarly(directory, programs) {
  const boot = join(__dirname, 'thread-bundle.cjs');
  const start = ([name, options]) => {
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const argv = [directory, name, 'early'];
    const worker = new Worker(boot, { ...options, argv, workerData: signal });
    worker.unref();
    const give = (data) => {
      worker.ref();
      worker.postMessage(data);
      Atomics.store(signal, 0, 1);
      Atomics.notify(signal, 0);
    };
    return [name, { worker, options, give }];
  };
  return new Map(Object.entries(programs).map(start));
}

module.exports = { startEarly };
