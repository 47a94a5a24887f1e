// Loaded into a server by a benchmark (`--import`): CPU time of each round of the event loop, of every thread. Time on
// the processor says how long others are kept waiting; what the machine does besides is not in it.
import { appendFileSync, openSync, readSync } from 'node:fs';
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

/** Lines of wall time at its end, and CPU time, of each round that is worth being told. */
let lines = '';
let before = cpuMs();

function round() {
  const spentMs = cpuMs() - before;
  if (spentMs > SHORTEST_MS) lines += `${Date.now()} ${spentMs}\n`;
  before = cpuMs();
  setImmediate(round).unref();
}

setImmediate(round);
const file = `${process.env.ROUNDS_FILE}.${isMainThread ? 'main' : threadId}`;
setInterval(() => {
  if (lines !== '') appendFileSync(file, lines);
  lines = '';
}, WRITE_EVERY_MS).unref();
