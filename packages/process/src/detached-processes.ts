// Processes of a local cluster, for experiments and tests: they outlive the command that started
// them. Because pids are reused, a pid is trusted only while its command line names the
// configuration it was started with.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import type { Clock } from '@tidemark/core';

/**
 * Starts a program that outlives this process; its output is in `output.log` beside its
 * configuration. Returns its pid.
 */
export function startDetached(
  program: string,
  parameters: readonly string[],
  configuration: string,
): Promise<number> {
  const directory = dirname(configuration);
  const output = openSync(join(directory, 'output.log'), 'a');
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      cwd: directory,
      detached: true,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve(child.pid ?? 0);
    });
  });
}

/** Whether the process runs and was started with this configuration. */
export function isRunning(pid: number, configuration: string): boolean {
  if (pid === 0) return false;
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
    if (state.startsWith('Z')) return false;
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    // Java starts itself again, without a command line meanwhile; the kernel's own processes never
    // have one, nor a program.
    return line === '' ? readlinkSync(`/proc/${pid}/exe`) !== '' : line.includes(configuration);
  } catch {
    // The process does not exist, or has ended between the two reads.
    return false;
  }
}

/** Asks a process to end, waits for it, and kills it after `deadlineMs`. */
export async function stopProcess(
  pid: number,
  configuration: string,
  { clock, deadlineMs }: { readonly clock: Clock; readonly deadlineMs: number },
): Promise<void> {
  const until = clock.monotonicMs() + deadlineMs;
  if (!isRunning(pid, configuration)) return;
  process.kill(pid, 'SIGTERM');
  while (isRunning(pid, configuration)) {
    if (clock.monotonicMs() > until) process.kill(pid, 'SIGKILL');
    await clock.sleep(POLL_MS);
  }
}

/** Path of a program; servers may be outside of a user's PATH. */
export function findProgram(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const directories = [...(environment['PATH'] ?? '').split(delimiter), ...PACKAGED];
  return directories.map((directory) => join(directory, name)).find((path) => existsSync(path));
}

const PACKAGED = ['/usr/sbin', '/usr/bin'];

/** Interval of checking whether a process has ended. */
const POLL_MS = 50;
