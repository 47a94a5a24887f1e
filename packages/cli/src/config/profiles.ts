// Profiles: settings that belong together for a kind of machine. They lie below file, environment
// and flags, so that each of them can still be set otherwise.
import { setFlagsFromString } from 'node:v8';

export const PROFILES = ['small'] as const;
export type Profile = (typeof PROFILES)[number];

type Sections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/**
 * Settings of the database by profile. `small` is for 256 MiB: what is kept in memory is small, and
 * little runs at once.
 */
export const TSDB_PROFILES: Readonly<Record<Profile, Sections>> = {
  small: {
    data: {
      'memtable-max-size': '4m',
      'wal-max-size': '8m',
      'write-queue-max-size': '8m',
      'reserve-size': '4m',
      'index-cache-size': '4m',
      'column-cache-size': '8m',
      'max-series-per-database': 100_000,
      'rehearsal-enabled': false,
    },
    coordinator: {
      'query-memory-limit': '32m',
      'total-query-memory-limit': '64m',
      'max-concurrent-queries': 8,
    },
    http: {
      'max-body-size': '8m',
      'body-memory-limit': '24m',
      'max-concurrent-write-limit': 4,
      'max-connection-limit': 1000,
    },
    monitor: { 'store-interval': '60s' },
    subscriber: { 'write-buffer-size': 100 },
  },
};

/**
 * How the garbage collector is told to keep heaps small, for this thread and those made later.
 * Without it, it lets them grow as long as the machine has memory: measured under the same load,
 * 320 MiB instead of 200.
 */
const SMALL_HEAP_FLAGS = [
  '--optimize-for-size',
  '--heap-growing-percent=20',
  '--max-semi-space-size=2',
];

/** Sets what is not a setting of a service. Called before services are loaded. */
export function useProfile(profile: Profile | undefined): void {
  if (profile === undefined) return;
  for (const flag of SMALL_HEAP_FLAGS) setFlagsFromString(flag);
}
