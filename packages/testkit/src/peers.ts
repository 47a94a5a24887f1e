// Programs of the distribution that only tests need. Continuous integration installs them and fails when one is
// missing (TIDEMARK_REQUIRE_PEERS=1); elsewhere the tests that need one are left out by name.
import { execFileSync } from 'node:child_process';

const REQUIRED = process.env['TIDEMARK_REQUIRE_PEERS'] === '1';

function works(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    // Missing or broken: both mean that the test can not run.
    return false;
  }
}

/**
 * Whether a program can be run. When it can not: an error where peers are required, otherwise a line that names what
 * is left out.
 */
export function hasPeer(packageName: string, file: string, args: readonly string[]): boolean {
  if (works(file, args)) return true;
  if (REQUIRED)
    throw new Error(`the package ${packageName} is required here and ${file} does not run`);
  process.stderr.write(`left out: tests that need ${packageName} (${file} is not installed)\n`);
  return false;
}

/**
 * Whether this user may have a file system of its own in a name space of its own, as tests of a full disk want. Says on
 * standard error what is left out when it may not, which is so in containers without the right to mount.
 */
export function canMountTmpfs(): boolean {
  const mount = ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt'];
  if (works('unshare', ['-rm', ...mount])) return true;
  process.stderr.write('left out: a full disk (mounting is not permitted here)\n');
  return false;
}
