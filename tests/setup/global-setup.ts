// Runs once before all tests: compiles the kernels, and the executable that end-to-end tests start. Both take next to
// nothing when they are up to date.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// By path: this runs before the packages are built.
import { linkPrograms } from '../../packages/testkit/src/programs.ts';

/** Brings the WebAssembly kernels and the built packages up to date. Returns what to do after the last test. */
export function setup(): () => void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const typescript = fileURLToPath(
    new URL('../../node_modules/typescript/bin/tsc', import.meta.url),
  );
  try {
    execFileSync('npm', ['run', '--silent', 'build:kernels'], { cwd: root, stdio: 'inherit' });
  } catch {
    // Tests that need the kernels fail by themselves, with the missing file; the others can still be run.
    process.stderr.write('the kernels do not compile: tests that need them will fail\n');
  }
  try {
    execFileSync(process.execPath, [typescript, '-b'], { cwd: root, stdio: 'inherit' });
    // Keeping compiled code takes longer than it saves when only the tests of one package are run.
    const bundle = ['packages/cli/bundle/build.mjs', '--no-code'];
    execFileSync(process.execPath, bundle, { cwd: root, stdio: 'inherit' });
    // Threads of services that tests start in their own process come from the build, too.
    process.env['TIDEMARK_TEST_BUILT_THREADS'] = join(root, 'packages/cli/build');
  } catch {
    // Tests of single packages run from source all the same; those of the executable run what was built last.
    process.stderr.write('the packages do not compile: end-to-end tests run an older build\n');
  }
  // What tests start is known (packages/testkit/programs.json): they find nothing else.
  const programs = mkdtempSync(join(tmpdir(), 'tidemark-programs-'));
  linkPrograms(programs);
  process.env['PATH'] = programs;
  return () => rmSync(programs, { recursive: true, force: true });
}
