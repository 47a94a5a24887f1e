// What a process has resident, seen from outside.
import { readFileSync, writeFileSync } from 'node:fs';

/** `VmHWM`: what `ulimit` or a container would have had to allow since the last reset. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** Forgets the peak: the next one is that of what follows. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
