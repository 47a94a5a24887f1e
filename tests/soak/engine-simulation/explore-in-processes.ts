// Explores many seeds in processes of their own, as many at once as there are cores: what a process
// keeps of each simulated cluster would fill its memory.
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { messageOf } from '@tidemark/core';

const run = promisify(execFile);

/** Seeds of one process: it has some 500 MB at its end. */
export const PROCESS_SEEDS = 1000;
const OUTPUT_BYTES_MAX = 64 << 20;

type Seeds = { readonly first: number; readonly count: number };

/**
 * Runs `program FIRST COUNT` for all parts of the seeds. Prints the sums of the marks that the
 * programs print, or the output of the first that fails. Returns the exit status.
 */
export async function exploreInProcesses(
  { first, count }: Seeds,
  program: string,
  say: (line: string) => void,
): Promise<number> {
  const parts: Seeds[] = [];
  for (let at = first; at < first + count; at += PROCESS_SEEDS) {
    parts.push({ first: at, count: Math.min(PROCESS_SEEDS, first + count - at) });
  }
  const marks = new Map<string, number>();
  const ended = new AbortController();
  let failed: string | undefined;
  const lane = async (): Promise<void> => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const output = await outputOf(program, part, ended.signal);
      if (ended.signal.aborted) return;
      if (!output.isClean) {
        failed = output.printed;
        ended.abort();
        return;
      }
      for (const [, mark = '', times] of output.printed.matchAll(/^(.+): (\d+)$/gm)) {
        marks.set(mark, (marks.get(mark) ?? 0) + Number(times));
      }
      say(`seeds ${part.first} to ${part.first + part.count - 1}: clean`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  for (const [mark, times] of [...marks].sort()) say(`${mark}: ${times}`);
  if (failed === undefined) return 0;
  say(failed);
  return 1;
}

async function outputOf(
  program: string,
  { first, count }: Seeds,
  signal: AbortSignal,
): Promise<{ readonly printed: string; readonly isClean: boolean }> {
  const args = [...process.execArgv, program, String(first), String(count)];
  try {
    const { stdout } = await run(process.execPath, args, { signal, maxBuffer: OUTPUT_BYTES_MAX });
    return { printed: stdout, isClean: true };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { printed: `${stdout}${stderr}${messageOf(error)}`, isClean: false };
  }
}
