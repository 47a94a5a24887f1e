// Gives memory back once there is nothing to do. The engine collects garbage only when something is allocated: after a
// load has ended, its buffers would stay in memory until the next one.
// Needs Node: not part of the package's index, imported as `@tidemark/core/idle-collection`.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Share of an interval that a thread works: above the one it is busy, below the other idle. */
const BUSY = 0.1;
const IDLE = 0.02;

/**
 * When the garbage of this thread is worth collecting, told once per interval: the first idle interval after a busy one.
 */
export class IdleWatch {
  #hasGarbage = false;

  /** `utilization`: the share of the interval in which the thread worked, 0 to 1. */
  isDue(utilization: number): boolean {
    if (utilization > BUSY) this.#hasGarbage = true;
    if (!this.#hasGarbage || utilization > IDLE) return false;
    this.#hasGarbage = false;
    return true;
  }
}

/** What collects the garbage of the calling thread at once; `undefined` where the engine does not hand it out. */
export function garbageCollector(): (() => void) | undefined {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // V8 refuses code that was compiled under other flags: threads and modules that are loaded later would be compiled anew.
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => void collect() : undefined;
}

/**
 * Collects the garbage of the calling thread when it falls idle after work, some tens of milliseconds without anybody
 * waiting. Does not keep the thread alive. Returns what ends it.
 */
export function collectWhenIdle(intervalMs = 5_000): () => void {
  const collect = garbageCollector();
  if (collect === undefined) return () => undefined;
  const watch = new IdleWatch();
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (watch.isDue(utilization)) collect();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
