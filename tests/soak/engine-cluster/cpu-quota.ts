// A share of a processor that a process may not exceed, as with the limit of a container. Needs
// root and the `cpu` controller of cgroup v1.
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTROLLER = '/sys/fs/cgroup/cpu';
const PERIOD_US = 100_000;

export class CpuQuota {
  readonly #directory: string;

  /** `percent` of one processor, for all processes with this quota together. */
  constructor(name: string, percent: number) {
    this.#directory = join(CONTROLLER, `tidemark-${process.pid}-${name}`);
    mkdirSync(this.#directory);
    this.#set('cpu.cfs_period_us', PERIOD_US);
    this.#set('cpu.cfs_quota_us', Math.round((PERIOD_US * percent) / 100));
  }

  /** A program with arguments that becomes, with this quota, the one behind it. */
  get wrapper(): readonly string[] {
    const enter = `echo $$ > '${join(this.#directory, 'cgroup.procs')}' && exec "$@"`;
    return ['/bin/sh', '-c', enter, 'sh'];
  }

  /** All processes with this quota must have ended. */
  close(): void {
    rmdirSync(this.#directory);
  }

  #set(file: string, value: number): void {
    writeFileSync(join(this.#directory, file), String(value));
  }
}
