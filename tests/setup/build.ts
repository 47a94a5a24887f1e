// Builds what tests run: the kernels, the packages, the bundle for end-to-end tests, and the page.
// Takes next to no time if everything is up to date.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPESCRIPT = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

type Step = { readonly what: string; readonly program: string; readonly args: readonly string[] };

const STEPS: readonly Step[] = [
  { what: 'the kernels', program: 'npm', args: ['run', '--silent', 'build:kernels'] },
  { what: 'the packages', program: process.execPath, args: [TYPESCRIPT, '-b'] },
  {
    what: 'the bundle',
    program: process.execPath,
    // Keeping compiled code takes longer than it saves when only the tests of one package are run.
    args: ['packages/cli/bundle/build.mjs', '--no-code'],
  },
  { what: 'the page', program: process.execPath, args: ['packages/ui/build-when-changed.mjs'] },
];

/**
 * Builds the repository in a folder. Throws with what the compiler said: an older build would make
 * tests pass that say nothing about the present sources.
 */
export function buildForTests(root: string): void {
  for (const { what, program, args } of STEPS) {
    try {
      execFileSync(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (cause) {
      // The cause itself has nothing to add but the same output as bytes.
      const { stdout, stderr } = cause as { readonly stdout: Buffer; readonly stderr: Buffer };
      throw new Error(`${what} cannot be built, so nothing is tested:\n${stdout}${stderr}`);
    }
  }
}

/** Where the bundle of a repository lies. */
export function bundleOf(root: string): string {
  return join(root, 'packages/cli/build');
}
