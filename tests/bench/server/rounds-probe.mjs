// A probe that a benchmark loads into a server (`--import`): CPU time of each round of the event
// loop, of every thread. CPU time shows how long other work is delayed, without the other load of
// the machine.
import { appendFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
import { isMainThread, threadId } from 'node:worker_threads';

const SHORTEST_MS = 0.5;
const WRITE_EVERY_MS = 250;
const THREAD_CPU_CLOCK = 3;

// The one exact clock of a thread's processor time that can be had without native code: what the
// scheduler tells of a thread that runs (`/proc/thread-self/schedstat`) is up to a tick old, 4 ms.
const wasi = new WASI({ version: 'preview1' });
const memory = new WebAssembly.Memory({ initial: 1 });
wasi.initialize({ exports: { memory } });
const nanos = new BigUint64Array(memory.buffer, 0, 1);

/** Milliseconds that this thread has run. */
function cpuMs() {
  wasi.wasiImport.clock_time_get(THREAD_CPU_CLOCK, 0n, nanos.byteOffset);
  return Number(nanos[0]) / 1e6;
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
