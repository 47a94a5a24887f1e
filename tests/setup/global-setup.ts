// Runs once before all tests: builds what they run, and restricts the programs that they may start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// By path: this runs before the packages are built.
import { linkPrograms } from '../../packages/testkit/src/programs.ts';
import { buildForTests, bundleOf } from './build.ts';

/**
 * Brings the build up to date; fails the whole run where that is not possible. Returns what to do
 * after the last test.
 */
export function setup(): () => void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  buildForTests(root);
  // Threads of services that tests start in their own process come from the build, too.
  process.env['TIDEMARK_TEST_BUILT_THREADS'] = bundleOf(root);
  // Tests find only the programs in packages/testkit/programs.json.
  const programs = mkdtempSync(join(tmpdir(), 'tidemark-programs-'));
  linkPrograms(programs);
  process.env['PATH'] = programs;
  return () => rmSync(programs, { recursive: true, force: true });
}
