// Shows results longer than the terminal in a pager.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Interface } from 'node:readline';

/**
 * Quits at once if everything fits, keeps colours and long lines, and leaves the text on the
 * screen.
 */
const DEFAULT_PAGER = 'less -FRSX';

/** The pager's command: `TIDEMARK_PAGER`, `PAGER` or `less`. Empty for none. */
export function pagerOf(environment: Readonly<Record<string, string | undefined>>): string {
  return environment['TIDEMARK_PAGER'] ?? environment['PAGER'] ?? DEFAULT_PAGER;
}

/** Whether a text needs more lines than the terminal has. */
export function isLong(text: string, terminal: { readonly rows: number }): boolean {
  return text.split('\n').length >= terminal.rows;
}

/**
 * Shows a text in a pager, which reads the keyboard meanwhile; `false` if there is no such program.
 */
export async function page(text: string, command: string, readline: Interface): Promise<boolean> {
  const ignore = (): void => undefined;
  readline.pause();
  process.stdin.setRawMode(false);
  // Ctrl-C belongs to the pager.
  process.on('SIGINT', ignore);
  try {
    const pager = spawn('/bin/sh', ['-c', command], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const ended = once(pager, 'close') as Promise<[number | null]>;
    // Leaving the pager early discards the rest.
    pager.stdin.on('error', ignore);
    pager.stdin.end(`${text}\n`);
    const [status] = await ended;
    return status !== COMMAND_NOT_FOUND;
  } finally {
    process.off('SIGINT', ignore);
    process.stdin.setRawMode(true);
    readline.resume();
  }
}

/** Exit status of a shell. */
const COMMAND_NOT_FOUND = 127;
