// Runs tests on a source in which a text is replaced.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Edit } from './mutant.ts';

const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

/**
 * The first test that fails; `undefined` when none does. The configuration has `mutantPlugin`;
 * `args` choose tests.
 */
export async function failedTest(
  config: string,
  edits: readonly Edit[],
  args: readonly string[] = [],
): Promise<string | undefined> {
  const run = [VITEST, 'run', '--config', config, '--reporter', 'json', '--bail', '1', ...args];
  const options = { env: { ...process.env, MUTANT: JSON.stringify(edits) }, maxBuffer: 1 << 28 };
  const [stdout, stderr] = await new Promise<readonly [string, string]>((resolve) => {
    // Its status says what the report says.
    execFile(process.execPath, run, options, (_error, out, err) => resolve([out, err]));
  });
  if (!stdout.includes('{"numTotal')) throw new Error(`${stdout}${stderr}`);
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"numTotal'))) as Report;
  for (const { name, status, message, assertionResults } of report.testResults) {
    const failed = assertionResults.find((one) => one.status === 'failed');
    if (failed !== undefined) return `${name}: ${failed.fullName}`;
    if (status === 'failed' && assertionResults.length === 0) return `${name}: ${message}`;
  }
  if (report.numPassedTests === 0) throw new Error(`no test ran: ${args.join(' ')}`);
  return undefined;
}

type Report = {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
};
