// Resident memory of a service, measured from outside: its process and those that it has started.
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

/** Clock ticks of a second, as Linux counts them for every program. */
const TICKS = 100;

/** Processor time that the service has used. */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const each of family(pid)) {
    const [, rest = ''] = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / TICKS;
}

/** Forgets the peak: the next one is that of what follows. */
export function resetPeak(pid: number): void {
  for (const each of family(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5');
}

/** Ends the processes that the service has started, and itself. */
export function killFamily(pid: number): void {
  for (const each of family(pid).toReversed()) process.kill(each, 'SIGKILL');
}
