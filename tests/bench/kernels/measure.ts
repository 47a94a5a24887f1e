// Runs a function until its time is up and prints its rate in CPU time, which a busy machine
// affects less than wall time.

/** CPU time of this process in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Prints how many million `unit` per second `work` handles; one call handles `count`. Best of
 * `rounds`.
 */
export function measure(
  name: string,
  options: { readonly count: number; readonly unit: string; readonly roundMs?: number },
  work: () => void,
): number {
  const roundMs = options.roundMs ?? 300;
  work();
  let best = 0;
  for (let round = 0; round < 3; round++) {
    const start = cpuMs();
    let calls = 0;
    let elapsed = 0;
    while (elapsed < roundMs) {
      work();
      calls++;
      elapsed = cpuMs() - start;
    }
    best = Math.max(best, (calls * options.count) / elapsed / 1000);
  }
  console.log(`${name.padEnd(44)} ${best.toFixed(2).padStart(9)} M ${options.unit}/s`);
  return best;
}

/** Standard normal numbers from uniform ones. */
export function normalFrom(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
