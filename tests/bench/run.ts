// Runs the benchmarks of single parts, one process each: `npm run bench [-- name … --option=…]`.
// Each is given the options.
// Comparisons with other systems are docs/benchmarks.md's subject.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = new URL('./', import.meta.url);

/** Every `<folder>/<name>.ts` that is not a helper of the others. */
function benchmarks(): readonly string[] {
  return readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((folder) =>
      readdirSync(new URL(`${folder.name}/`, here))
        .filter((file) => file.endsWith('.ts') && !HELPERS.has(file))
        .map((file) => `${folder.name}/${file}`),
    )
    .toSorted();
}

const HELPERS: ReadonlySet<string> = new Set([
  'beside-influxdb.ts',
  'measure.ts',
  'bodies.ts',
  'policy.ts',
  'steps.ts',
  'cases.ts',
  'heavy.ts',
  'keep-alive.ts',
  'cases.test.ts',
  'case-runner.ts',
  'lines.ts',
  'processor.ts',
  'rounds.ts',
  'writer.ts',
  'cluster-service.ts',
  'function-rows.ts',
  'own-load.ts',
  'request-variants.ts',
  'victoria-metrics.ts',
  'progress.ts',
  'rows.ts',
]);

const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith('--'));
const wanted = given.filter((argument) => !argument.startsWith('--'));
let failures = 0;
for (const name of benchmarks().filter(
  (one) => wanted.length === 0 || wanted.some((part) => one.includes(part)),
)) {
  const file = fileURLToPath(new URL(name, here));
  process.stdout.write(`\n== ${name}\n`);
  const child = spawn(process.execPath, ['--conditions=source', file, ...options], {
    stdio: 'inherit',
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) failures++;
}
process.exitCode = failures === 0 ? 0 : 1;
