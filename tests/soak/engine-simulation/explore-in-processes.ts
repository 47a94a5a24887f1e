// Explores many seeds in processes of their own, one per core and some thousand seeds: what the
// libraries of the engine keep of each simulated cluster would fill the memory of a single one.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

/** Seeds of one process: it has some 500 MB at its end. */
export const PROCESS_SEEDS = 1000;

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
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): void => void child.kill();
  signal.addEventListener('abort', kill, { once: true });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const printed = await text(child.stdout);
  const status = await closed;
  signal.removeEventListener('abort', kill);
  return { printed, isClean: status === 0 };
}
