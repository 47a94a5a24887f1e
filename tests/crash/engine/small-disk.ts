// A file system of a few megabytes that survives the processes that use it: it is mounted in a name
// space of its own, which a sleeping process keeps. Needs the right to mount there
// (`canMountTmpfs`).
import { spawn } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type SmallDisk = {
  /** A program with arguments that enters the name space; for `StartOptions.wrapper`. */
  readonly wrapper: readonly string[];
  /** Leaves no room. */
  fill(): void;
  /** Gives back what `fill` took. */
  free(): void;
  close(): Promise<void>;
};

const FILL_BYTES = 4096;

export async function mountSmallDisk(directory: string, sizeMiB: number): Promise<SmallDisk> {
  const script = `mount -t tmpfs -o size=${sizeMiB}m tmpfs "$0" && echo mounted && exec sleep infinity`;
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve());
    holder.once('exit', (code) => reject(new Error(`cannot mount: exit status ${code}`)));
  });
  const ballast = join(`/proc/${holder.pid}/root`, directory, 'ballast');
  return {
    wrapper: ['nsenter', '-t', String(holder.pid), '-U', '-m', '--preserve-credentials'],
    fill: () => {
      for (;;) {
        try {
          appendFileSync(ballast, Buffer.alloc(FILL_BYTES));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
          throw error;
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
    close: async () => {
      const exited = new Promise((resolve) => holder.once('exit', resolve));
      holder.kill('SIGKILL');
      await exited;
    },
  };
}
