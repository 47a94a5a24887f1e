// Three projects for the whole repository: `tests`, which `npm test` runs, `long`, which
// `npm run test:long` runs (crashes, clusters, packages, and all that happens in a browser), and
// `soaks`, which `npm run soak:small` runs: soaks in a small form, and mutants. Packages are
// resolved from source (condition `source`).
import { createRequire } from 'node:module';

import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

// Tests, and what they start, run on the runtime of the product, whichever one started the runner.
const { pinnedNode, RUNTIME_FLAGS } = createRequire(import.meta.url)(
  './packages/cli/bin/runtime.cjs',
);
if (process.env['TIDEMARK_NODE'] !== 'system') process.execPath = pinnedNode() ?? process.execPath;

const TESTS = ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'];
const SOAKS = TESTS.map((glob) => glob.replace('.test.ts', '.soak.test.ts'));
const LONG = [
  ...TESTS.map((glob) => glob.replace('.test.ts', '.long.test.ts')),
  'tests/e2e/ui/*.test.ts',
];

/** Tests that take long, longest first: at the end they would leave the other workers idle. */
const LONGEST = ['/tests/soak/', '/tests/compat/', '/tests/'];

/** By folder; within each, as Vitest does: by the last run, or the size of the file. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((folder) => moduleId.includes(folder));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    resolve: { conditions: ['source', 'node', 'import'], externalConditions: ['node', 'import'] },
  },
  test: {
    projects: [
      // Tests wait for disks and other processes part of the time: there is one worker more than
      // the smallest machine has processors. Each loads and compiles all modules: a fourth takes a
      // fifth more processor time.
      {
        extends: true,
        test: { name: 'tests', include: TESTS, exclude: [...LONG, ...SOAKS], maxWorkers: 3 },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG, maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'soaks', include: SOAKS, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
    ],
    globalSetup: ['tests/setup/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes soon, but not on a machine that is busy.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // As the launcher starts the program, with the packages' sources.
    execArgv: [...RUNTIME_FLAGS, '--conditions=source'],
    // Node.js itself loads what it can read (all but a Node.js of 20 that starts the runner): Vite
    // takes 50 s of processor time to transform the sources.
    experimental: { viteModuleRunner: !process.features.typescript, nodeLoader: false },
    // Modules are loaded once per worker, not once per file: half of the time. Nothing here
    // replaces modules or globals.
    isolate: false,
  },
});
