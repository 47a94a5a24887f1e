// What a service has resident, seen from outside: its process and those that it has started.
import { readFileSync, writeFileSync } from 'node:fs';

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  return [pid, ...pids.flatMap(family)];
}

/** `VmHWM`: what `ulimit` or a container would have had to allow since the last reset. */
export function peakBytes(pid: number): number {
  let bytes = 0;
  for (const each of family(pid)) {
    const status = readFileSync(`/proc/${each}/status`, 'utf8');
    bytes += Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }
  return bytes;
}

/** Forgets the peak: the next one is that of what follows. */
export function resetPeak(pid: number): void {
  for (const each of family(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5');
}

/** Ends the processes that the service has started, and itself. */
export function killFamily(pid: number): void {
  for (const each of family(pid).toReversed()) process.kill(each, 'SIGKILL');
}
