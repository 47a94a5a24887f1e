// Releases memory when there is nothing to do. V8 collects garbage only on allocation: after a load
// has ended, its buffers would stay in memory until the next one.
import { Session } from 'node:inspector/promises';
import { performance } from 'node:perf_hooks';

import { trimMemorySoon } from './trim-memory.ts';

/** Share of an interval that a thread works: above this it is busy, below the next one idle. */
const BUSY = 0.1;
const IDLE = 0.02;

/** Idle intervals after which a thread is not expected to work again soon: a minute. */
const RESTING = 12;

/**
 * Decides how to release memory of this thread, once per interval. In the first idle interval after
 * a busy one its garbage is collected. When it has rested for a minute, the pages of its heap are
 * released too, which slows it down: a query that creates many objects costs up to twice the CPU
 * until there are as many pages again.
 */
export class IdleWatch {
  #isDone = true;
  #idleCount = 0;

  /** `utilization`: the share of the interval in which the thread worked, 0 to 1. */
  next(utilization: number): 'collect' | 'shrink' | undefined {
    if (utilization > BUSY) {
      this.#isDone = false;
      this.#idleCount = 0;
    }
    if (this.#isDone || utilization > IDLE) return undefined;
    this.#idleCount++;
    if (this.#idleCount === 1) return 'collect';
    if (this.#idleCount < RESTING) return undefined;
    this.#isDone = true;
    return 'shrink';
  }
}

/**
 * Collects all garbage of the calling thread in a turn of its own, and releases unused pages of its
 * heap and, soon after, of the C library. The collector that the engine exposes keeps the pages of
 * the young objects, up to 32 MiB for each thread; the one of its inspector does not.
 */
export async function collectAll(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
  trimMemorySoon();
}

// With a heap of 20 MiB the engine begins to mark it after some 10 MiB of buffers. A collection of
// the young objects of a thread with few of them takes 0.5 ms.
const YOUNG_BUFFER_BYTES = 6 << 20;

/**
 * Releases the buffers of a thread that reads many bytes and creates few objects. Buffers count as
 * old memory: they make the engine collect all old objects, with the help of all its threads,
 * though the buffers belong to young ones, which it would collect by themselves only when they are
 * many. Collecting these in time reduced the CPU time of writes to tasks from 3.2 to 2.3 s per
 * million rows.
 */
export class YoungBuffers {
  readonly #collect: () => void;
  #sizeBytes = 0;

  constructor(collectYoung = () => collect('minor')) {
    this.#collect = collectYoung;
  }

  /** Counts bytes of short-lived buffers, and collects when there are too many. */
  note(sizeBytes: number): void {
    this.#sizeBytes += sizeBytes;
    if (this.#sizeBytes < YOUNG_BUFFER_BYTES) return;
    this.#sizeBytes = 0;
    this.#collect();
  }
}

/**
 * The collector exists because the launcher starts the program with `--expose-gc`
 * (packages/cli/bin/runtime.cjs). Otherwise the engine decides when to collect.
 */
function collect(type: 'minor' | 'major'): void {
  void globalThis.gc?.({ type });
}

/**
 * Collects the garbage of the calling thread when it becomes idle after work, and releases memory
 * when it rests: some tens of milliseconds each, which delay nobody. Does not keep the thread
 * alive. Returns a function that ends it.
 */
export function collectWhenIdle(intervalMs = 5_000): () => void {
  const watch = new IdleWatch();
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const due = watch.next(utilization);
    if (due === 'collect') collect('major');
    if (due === 'shrink') void collectAll();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
