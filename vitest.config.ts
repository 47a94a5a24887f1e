// One test project for the whole repository. Packages are resolved from source (condition
// `source`).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: {
    resolve: { conditions: ['source', 'node', 'import'], externalConditions: ['node', 'import'] },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/setup/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes soon, but not on a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
    // One more than the processors of the smallest machine: tests wait for disks and other
    // processes part of the time.
    maxWorkers: 3,
    pool: 'forks',
    // Modules are loaded once per worker, not once per file: half of the time. Nothing here
    // replaces modules or globals.
    isolate: false,
  },
});
