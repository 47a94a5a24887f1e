// `npm run soak:memory [-- --profiles P,… --lengths N,… --clients N,…]`: 60 bodies of 24 MB that
// stall, 36 of strangers, 24 times top(v, 900000), answers that nobody reads; then texts and tags
// of every length in every kind of statement. With an option, only these, and of the chosen ones.
import { parseArgs } from 'node:util';

import { soakMemory } from './memory.ts';
import { PROFILES, soakTexts } from './texts-soak.ts';

const CEILING_BYTES = 1 << 30;

const { values: chosen } = parseArgs({
  options: {
    profiles: { type: 'string' },
    lengths: { type: 'string' },
    clients: { type: 'string' },
  },
});
const numbers = (list: string | undefined): readonly number[] | undefined =>
  list?.split(',').map(Number);

if (Object.keys(chosen).length === 0) {
  const result = await soakMemory({
    values: 900_000,
    queries: 24,
    stalledBodies: 60,
    strangers: 36,
  });
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
  const { tsdbPeakBytes, enginePeakBytes, problems } = result;
  if (Math.max(tsdbPeakBytes, enginePeakBytes) > CEILING_BYTES || problems.length > 0)
    process.exitCode = 1;
}

const wanted = chosen.profiles?.split(',') ?? PROFILES;
const texts = await soakTexts({
  profiles: PROFILES.filter((profile) => wanted.includes(profile)),
  lengths: numbers(chosen.lengths) ?? [10, 1000, 32_000, 65_536],
  totalBytes: 200_000_000,
  clients: numbers(chosen.clients) ?? [1, 4, 16],
  ceilingBytes: CEILING_BYTES,
  onMeasured: ({ name, clients, seconds, peakMiB, refused, errors }) => {
    process.stdout.write(
      `${name}, ${clients} clients: ${seconds.toFixed(2)} s, ${peakMiB} MiB, ${refused} refused\n`,
    );
    for (const error of errors) process.stdout.write(`  ${error}\n`);
  },
});
process.stdout.write(`${JSON.stringify(texts, undefined, 2)}\n`);
if (texts.problems.length > 0) process.exitCode = 1;
