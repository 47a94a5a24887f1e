// Starts threads from modules: sources in tests and benchmarks, built programs everywhere else.
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';

import { assert } from '@tidemark/core';

/** Takes directory and name of a bundled program. */
const BUNDLE_BOOT = new URL('../boot/thread-bundle.cjs', import.meta.url);

/**
 * Set by the loader of a bundle (`bundle-loader.cjs`); undefined in programs that are not bundled.
 * `threads` are those that started before the program, by name (`early-threads.cjs`).
 */
declare const tidemarkBundle:
  | { readonly directory: string; readonly threads: Map<string, EarlyThread> }
  | undefined;

type EarlyThread = {
  readonly worker: Worker;
  readonly options: WorkerOptions;
  /** Lets the thread go on with its `workerData`. */
  readonly give: (data: unknown) => void;
};

/**
 * A thread that runs the module `name` (without ending) beside the module at `moduleUrl` (its
 * `import.meta.url`). In a bundled program that is the bundle of that module
 * (packages/cli/bundle/programs.cjs lists them).
 *
 * From sources each thread would translate the whole program again, which takes it half a second of
 * CPU.
 * `TIDEMARK_TEST_BUILT_THREADS`, which the tests' set-up sets after it has built the packages, runs
 * the bundle in that directory instead.
 */
export function startThread(
  moduleUrl: string,
  name: string,
  options: Omit<WorkerOptions, 'argv' | 'execArgv'>,
): Worker {
  const isSource = moduleUrl.endsWith('.ts');
  const built = isSource ? process.env['TIDEMARK_TEST_BUILT_THREADS'] : undefined;
  const directory = typeof tidemarkBundle === 'undefined' ? built : tidemarkBundle.directory;
  if (directory !== undefined) {
    const program = bundledName(new URL(`./${name}`, moduleUrl));
    const early = takeEarly(program, options);
    if (early !== undefined) return early;
    const argv = [directory, program];
    const execArgv = built === undefined ? threadArguments(process.execArgv) : [];
    return new Worker(BUNDLE_BOOT, { ...options, argv, execArgv });
  }
  return new Worker(new URL(`./${name}.${isSource ? 'ts' : 'js'}`, moduleUrl), {
    ...options,
    execArgv: threadArguments(process.execArgv),
  });
}

/** Threads that started before the program and wait for their data, by name. */
const earlyThreads = (): Map<string, EarlyThread> =>
  typeof tidemarkBundle === 'undefined' ? new Map() : tidemarkBundle.threads;

/** The thread of a program that waits for its data. */
function takeEarly(program: string, options: WorkerOptions): Worker | undefined {
  const threads = earlyThreads();
  const early = threads.get(program);
  if (early === undefined) return undefined;
  const { workerData, ...others } = options;
  assert(
    isDeepStrictEqual(early.options, others),
    `${program} has other options in programs.cjs than where it starts`,
  );
  threads.delete(program);
  early.give(workerData);
  return early.worker;
}

/** Ends threads that started before the program, and that nothing has taken. */
export function endEarlyThreads(): void {
  const threads = earlyThreads();
  for (const { worker } of threads.values()) void worker.terminate();
  threads.clear();
}

/** `…/packages/storage/dist/thread/host` is the program `storage-thread-host`. */
function bundledName({ pathname }: URL): string {
  const parts = /([^/]+)\/(?:src|dist)\/(.+)$/.exec(pathname);
  return `${parts?.[1]}-${parts?.[2]?.replaceAll('/', '-')}`;
}

/**
 * Threads inherit the options of the process. Only a process that was given its program as text
 * passes the other options on, because its threads start from files: the list must not have flags
 * of V8, which apply to the process anyway.
 */
function threadArguments(given: readonly string[]): string[] | undefined {
  const isText = (argument: string): boolean => argument.startsWith('--input-type');
  return given.some(isText) ? given.filter((argument) => !isText(argument)) : undefined;
}
