// Profiles: groups of settings for a kind of machine. File, environment and flags override them.

export const PROFILES = ['small'] as const;
export type Profile = (typeof PROFILES)[number];

type Sections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/**
 * Settings of the database by profile. `small` is for 256 MiB: small caches, little concurrency.
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
