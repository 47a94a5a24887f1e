// Starts threads from modules, which are sources in tests and benchmarks and files of the build everywhere else.
// Needs Node: not part of the package's index, imported as `@tidemark/core/thread`.
import { Worker } from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';

/** Takes the program's address as its first argument and makes TypeScript loadable if that is what it is. */
const BOOT = new URL('../thread-boot.mjs', import.meta.url);

/**
 * A thread that runs the module `name` (without ending) beside the module at `moduleUrl` (its `import.meta.url`).
 *
 * From sources each thread would translate the whole program again, which takes it half a second of CPU.
 * `TIDEMARK_TEST_BUILT_THREADS`, which the tests' set-up sets after it has built the packages, runs the same module of
 * the build instead.
 */
export function startThread(
  moduleUrl: string,
  name: string,
  options: Omit<WorkerOptions, 'argv' | 'execArgv'>,
): Worker {
  const isSource = moduleUrl.endsWith('.ts');
  const useBuild = isSource && process.env['TIDEMARK_TEST_BUILT_THREADS'] !== undefined;
  const base = useBuild ? moduleUrl.replace('/src/', '/dist/') : moduleUrl;
  const file = new URL(`./${name}.${isSource && !useBuild ? 'ts' : 'js'}`, base);
  return new Worker(BOOT, {
    ...options,
    argv: [file.href],
    execArgv: useBuild ? [] : threadArguments(process.execArgv),
  });
}

/**
 * Threads inherit what the process was started with. Only one that was given its program as text lists what is left
 * without it, as its threads start from files: a list must not have flags of V8, which hold for the process anyway.
 */
function threadArguments(given: readonly string[]): string[] | undefined {
  const isText = (argument: string): boolean => argument.startsWith('--input-type');
  return given.some(isText) ? given.filter((argument) => !isText(argument)) : undefined;
}
