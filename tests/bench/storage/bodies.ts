// Bodies of 5,000 lines in the shape of the comparison's data: per host and ten seconds one row of
// ten integers that wander.
export const FIELDS = Array.from({ length: 10 }, (_, i) => `usage_${i}`);
export const HOUR_NANOS = 3_600_000_000_000n;
export const START = 1_451_606_400_000_000_000n;
const STEP_NANOS = 10_000_000_000n;
const BATCH_ROWS = 5000;

/** The same bodies in every run. */
export function* cpuBodies(size: {
  readonly hosts: number;
  readonly hours: number;
}): Generator<Uint8Array> {
  const { hosts, hours } = size;
  const utf8 = new TextEncoder();
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const state = Array.from({ length: hosts * FIELDS.length }, () => random() * 100);
  let text = '';
  let rows = 0;
  for (let tick = 0n; tick < (BigInt(hours) * HOUR_NANOS) / STEP_NANOS; tick++) {
    for (let host = 0; host < hosts; host++) {
      const fields = FIELDS.map((name, i) => {
        const at = host * FIELDS.length + i;
        state[at] = Math.min(100, Math.max(0, state[at]! + (random() + random() - 1) * 2));
        return `${name}=${Math.round(state[at]!)}i`;
      });
      text += `cpu,hostname=host_${host} ${fields.join(',')} ${START + tick * STEP_NANOS}\n`;
      if (++rows % BATCH_ROWS !== 0) continue;
      yield utf8.encode(text);
      text = '';
    }
  }
  if (text !== '') yield utf8.encode(text);
}
