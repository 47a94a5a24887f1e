// `npm run soak:memory`: 60 bodies of 24 MB that stall, 36 of strangers, 24 times top(v, 900000),
// answers that nobody reads.
import { soakMemory } from './memory.ts';

const CEILING_BYTES = 1 << 30;

const result = await soakMemory({
  values: 900_000,
  queries: 24,
  stalledBodies: 60,
  strangers: 36,
});
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
const { tsdbPeakBytes, enginePeakBytes, problems } = result;
if (Math.max(tsdbPeakBytes, enginePeakBytes) > CEILING_BYTES || problems.length > 0) {
  process.exitCode = 1;
}
