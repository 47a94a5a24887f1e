// A small folder: a separate file system where one may be mounted, otherwise files whose growth a
// preloaded module limits (limited-files.mjs).
import { execFileSync } from 'node:child_process';

import { makeDirectory, removeDirectory } from '@tidemark/testkit';

export type SmallDisk = {
  readonly directory: string;
  /** For the environment of the process that writes there. */
  readonly environment: Readonly<Record<string, string>>;
  readonly isMounted: boolean;
  remove(): Promise<void>;
};

const LIMITED_FILES = new URL('limited-files.mjs', import.meta.url).href;

export async function makeSmallDisk(
  sizeBytes: number,
  { mounts }: { readonly mounts: boolean },
): Promise<SmallDisk> {
  const directory = await makeDirectory();
  const isMounted = mounts && mount(directory, sizeBytes);
  const environment = isMounted
    ? {}
    : {
        NODE_OPTIONS: `--import=${LIMITED_FILES}`,
        LIMITED_DIRECTORY: directory,
        LIMITED_BYTES: String(sizeBytes),
      };
  const remove = async (): Promise<void> => {
    if (isMounted) execFileSync('umount', [directory]);
    await removeDirectory(directory);
  };
  return { directory, environment, isMounted, remove };
}

function mount(directory: string, sizeBytes: number): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', directory];
    execFileSync('mount', options, { stdio: 'ignore' });
    return true;
  } catch {
    return false; // A container may keep even root from it.
  }
}
