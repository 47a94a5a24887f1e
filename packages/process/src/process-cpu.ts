// CPU time of the process for metrics.

/** Microseconds used by the process. */
type CpuUsage = { readonly user: number; readonly system: number };

/**
 * Counters of CPU seconds count from their creation, at the first request for metrics: the time
 * used before is added, so that they count from the start of the process, as their name says.
 */
export function countCpuFromStart(
  before: CpuUsage,
  counter: (name: string) => { inc(value: number): void } | undefined,
): void {
  const { user, system } = before;
  for (const [name, micros] of [
    ['process_cpu_user_seconds_total', user],
    ['process_cpu_system_seconds_total', system],
    ['process_cpu_seconds_total', user + system],
  ] as const) {
    counter(name)?.inc(micros / 1e6);
  }
}
