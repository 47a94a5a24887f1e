// Random data sets: few measurements, tags and fields, so that statements match something, with
// gaps, missing tags and missing fields, because servers differ there.
import type { Random } from './random.ts';

/** One point, kept apart from its text so that a data set can be made smaller. */
export type Line = string;

export const DATABASE = 'queryfuzz';
export const MEASUREMENTS = ['m', 'n'] as const;
export const TAGS = ['host', 'zone'] as const;
/** Float, float (rare), integer, string, boolean. */
export const FIELDS = ['f', 'g', 'i', 's', 'b'] as const;

/** 2021-03-01T00:00:00Z, in the middle of a shard of a week. */
export const START_SECONDS = 1_614_556_800;
export const SPAN_SECONDS = 4 * 3600;

const HOSTS = ['a', 'b', 'c'] as const;
const ZONES = ['', 'x', 'y'] as const;

/**
 * Lines with timestamps in seconds. No two points of one measurement share a time: which of these
 * most functions take is not defined on the reference server. `ends.ts` has data that do.
 */
export function randomLines(random: Random): readonly Line[] {
  const lines: Line[] = [];
  const used = new Set<string>();
  // Now and then the points lie in several shards.
  const stretch = random.chance(0.2) ? 200 : 1;
  for (const measurement of MEASUREMENTS) {
    for (const host of HOSTS) {
      if (random.chance(0.3)) continue;
      const zone = random.pick(ZONES);
      const tags = zone === '' ? `host=${host}` : `host=${host},zone=${zone}`;
      const count = random.below(18);
      for (let k = 0; k < count; k++) {
        const offset = random.below(SPAN_SECONDS);
        const key = `${measurement} ${offset}`;
        const fields = randomFields(random);
        if (used.has(key) || fields === '') continue;
        used.add(key);
        lines.push(`${measurement},${tags} ${fields} ${START_SECONDS + offset * stretch}`);
      }
    }
  }
  return lines;
}

function randomFields(random: Random): string {
  const fields: string[] = [];
  // Zero has two signs.
  if (random.chance(0.04)) fields.push('f=-0');
  else if (random.chance(0.8)) fields.push(`f=${random.below(400) / 4 - 20}`);
  if (random.chance(0.15)) fields.push(`g=${random.below(40) / 8}`);
  if (random.chance(0.6)) fields.push(`i=${random.below(60) - 20}i`);
  if (random.chance(0.3)) fields.push(`s="${random.pick(['red', 'green', 'blue'])}"`);
  if (random.chance(0.3)) fields.push(`b=${random.chance(0.5)}`);
  return fields.join(',');
}
