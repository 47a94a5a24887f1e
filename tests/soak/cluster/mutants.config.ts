// Tests of storage on ClickHouse, on a source in which a text is replaced as MUTANT says
// (`npm run soak:cluster mutants`).
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import base from '../../../vitest.config.ts';
import { mutantPlugin } from '../mutants/mutant-plugin.ts';

const { globalSetup: _none, projects: _both, ...test } = base.test ?? {};

export default defineConfig({
  ...base,
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  plugins: [mutantPlugin()],
  test: { ...test, include: ['packages/{clickhouse,tsdb}/src/**/*.test.ts'] },
});
