// Runs once before all tests: builds what tests need and what is cached by content, which is the kernels.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Compiles the WebAssembly kernels unless their cached build is up to date. */
export function setup(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  execFileSync('npm', ['run', '--silent', 'build:kernels'], { cwd: root, stdio: 'inherit' });
}
