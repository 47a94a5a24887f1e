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
