// Processor time and memory of a server's process, which depend little on other load of the
// machine.
import { readFileSync, writeFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/**
 * User and system time of a process so far, in milliseconds, in steps of ten; with its children,
 * because the executable may start another process that is the server.
 */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const ofChildren = children === '' ? [] : children.split(' ').map(Number).map(processorMs);
  return (user + system) * MS_PER_TICK + ofChildren.reduce((sum, ms) => sum + ms, 0);
}

/** Memory that a process has now (`VmRSS`), or has had at most (`VmHWM`). */
export function memoryMiB(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

/** From now on `VmHWM` is what the process has had since. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
