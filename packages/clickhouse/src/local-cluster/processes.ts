// Processes that outlive the command that started them. A pid is believed only while its command
// line names the configuration it was started with: numbers are used again.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

import type { Clock } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/**
 * Starts a program that goes on without us; what it prints is in `output.log` beside its
 * configuration. Its pid.
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

/** Whether the process runs and is the one that was started with this configuration. */
export function isRunning(pid: number, configuration: string): boolean {
  if (pid === 0) return false;
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
    return (
      !state.startsWith('Z') && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(configuration)
    );
  } catch {
    // There is no such process, or it has ended between the two files.
    return false;
  }
}

/** Asks a process to end, waits for it, and kills it when that takes too long. */
export async function stopProcess(pid: number, configuration: string, clock: Clock): Promise<void> {
  const until = clock.monotonicMs() + LIMITS.stopMs.value;
  if (!isRunning(pid, configuration)) return;
  process.kill(pid, 'SIGTERM');
  while (isRunning(pid, configuration)) {
    if (clock.monotonicMs() > until) process.kill(pid, 'SIGKILL');
    await clock.sleep(POLL_MS);
  }
}

/** How often the end of a process is looked for. */
const POLL_MS = 50;

/**
 * So many different ports of loopback that nobody listens on. They are below the range that the
 * system gives to outgoing connections and to servers that ask for any port: neither can take one
 * before the process it was chosen for listens.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const end = firstEphemeralPort();
  const start = Math.max(FIRST_UNPRIVILEGED_PORT, end - PORTS_CHOSEN_FROM);
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(start, end);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

const FIRST_UNPRIVILEGED_PORT = 1024;

const PORTS_CHOSEN_FROM = 20_000;

/** Of the range from which Linux takes ports by itself; other systems begin no lower. */
function firstEphemeralPort(): number {
  const usual = 32_768;
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    // Another system, or one that does not tell.
    return usual;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
