// Runs once before all tests: builds what tests need and what is cached by content, which is the kernels.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Compiles the WebAssembly kernels unless their cached build is up to date. */
export function setup(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  try {
    execFileSync('npm', ['run', '--silent', 'build:kernels'], { cwd: root, stdio: 'inherit' });
  } catch {
    // Tests that need the kernels fail by themselves, with the missing file; the others can still be run.
    process.stderr.write('the kernels do not compile: tests that need them will fail\n');
  }
}
