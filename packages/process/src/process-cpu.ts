// CPU time of the process for metrics.

/** Microseconds that the process has used. */
type CpuUsage = { readonly user: number; readonly system: number };

/**
 * Counters of CPU seconds count from the moment when they are made, which is the first request for
 * metrics: what the process had used by then is added, so that they count from its start as their
 * name says.
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
