// Line protocol of a fleet of hosts, batch after batch, as agents send it.

export const FIELDS: readonly string[] = Array.from({ length: 10 }, (_, i) => `usage_${i}`);
export const STEP_NANOS = 10_000_000_000n;
export const START = 1_451_606_400_000_000_000n;

/** Endless batches of `rows` rows, the hosts in turn, ten seconds from round to round. */
export function* batches(hosts: number, rows: number): Generator<Uint8Array> {
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const state = Array.from({ length: hosts * FIELDS.length }, () => random() * 100);
  const encoder = new TextEncoder();
  let lines: string[] = [];
  for (let time = START; ; time += STEP_NANOS) {
    for (let host = 0; host < hosts; host++) {
      const fields = FIELDS.map((name, i) => {
        const at = host * FIELDS.length + i;
        state[at] = Math.min(100, Math.max(0, state[at]! + (random() + random() - 1) * 2));
        return `${name}=${Math.round(state[at])}i`;
      });
      lines.push(`cpu,hostname=host_${host},region=r${host % 7} ${fields.join(',')} ${time}`);
      if (lines.length < rows) continue;
      yield encoder.encode(lines.join('\n'));
      lines = [];
    }
  }
}

/** The value below which a part of the sorted list lies. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * Batches with a point for each of so many series, with a tag `id` of their own and a `region` that
 * many share.
 */
export function manySeries(measurement: string, count: number, rows: number): Uint8Array[] {
  const encoder = new TextEncoder();
  const bodies: Uint8Array[] = [];
  for (let at = 0; at < count; at += rows) {
    const lines = Array.from(
      { length: Math.min(rows, count - at) },
      (_, i) => `${measurement},id=v${at + i},region=r${(at + i) % 50} f=1 1`,
    );
    bodies.push(encoder.encode(lines.join('\n')));
  }
  return bodies;
}
