// Loaded into a server by a benchmark (`--import`): CPU time of each round of the event loop, of every thread. Time on
// the processor says how long others are kept waiting; what the machine does besides is not in it.
import { openSync, readSync, writeFileSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';

const SHORTEST_MS = 0.5;
const WRITE_EVERY_MS = 250;

const statistics = openSync('/proc/thread-self/schedstat', 'r');
const buffer = Buffer.alloc(64);

/** Milliseconds that this thread has run. */
function cpuMs() {
  const length = readSync(statistics, buffer, 0, buffer.length, 0);
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

/** Wall time at its end, and CPU time, of each round that is worth being told. */
const rounds = [];
let before = cpuMs();

function round() {
  const spentMs = cpuMs() - before;
  if (spentMs > SHORTEST_MS) rounds.push([Date.now(), spentMs]);
  before = cpuMs();
  setImmediate(round).unref();
}

setImmediate(round);
const file = `${process.env.ROUNDS_FILE}.${isMainThread ? 'main' : threadId}`;
setInterval(() => writeFileSync(file, JSON.stringify(rounds)), WRITE_EVERY_MS).unref();
