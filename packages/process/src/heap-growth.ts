// How far the heaps of a small process may grow before the engine collects all of one. It allows
// little beyond what was left by the last collection, counts buffers in it, and does not see how
// fast they come: with 22 MiB of objects, an answer of some MiB made it collect everything three
// times. That was half of the CPU time of such answers
// (docs/benchmarks/2026-11-23-first-requests.md, "The two states of the collector").
import { setFlagsFromString } from 'node:v8';

/** Share by which a heap may grow; 0 leaves it to the engine. */
const GROWING_PERCENT = 200;

/** Resident memory of the process beyond which the engine decides by itself. */
const SMALL_PROCESS_BYTES = 256 << 20;

export type HeapGrowthOptions = {
  /** Resident memory of the process, in bytes. */
  readonly residentBytes: () => number;
  readonly intervalMs: number;
  readonly setGrowth: (percent: number) => void;
};

const OF_PROCESS: HeapGrowthOptions = {
  residentBytes: () => process.memoryUsage.rss(),
  intervalMs: 1_000,
  setGrowth: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
};

/**
 * Lets all heaps of the process grow to three times what is left in them, as long as the process is
 * small. For the time after programs are loaded: V8 refuses code that it kept under other flags.
 * Returns what ends it.
 */
export function growSmallHeaps(options = OF_PROCESS): () => void {
  const { residentBytes, intervalMs, setGrowth } = options;
  let present = 0;
  const set = (percent: number): void => {
    if (percent !== present) setGrowth(percent);
    present = percent;
  };
  const adapt = (): void => set(residentBytes() < SMALL_PROCESS_BYTES ? GROWING_PERCENT : 0);
  adapt();
  const timer = setInterval(adapt, intervalMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    set(0);
  };
}
