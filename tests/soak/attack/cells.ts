// The cells that the attack writes: values under database, policy, measurement, tag and time.

/** Restores go to `r`. */
export const DATABASES = ['a', 'b', 'r'] as const;
export const POLICIES = ['p', 'q'] as const;
export const MEASUREMENTS = ['m', 'n'] as const;
export const TAGS = ['x', 'y', 'z'] as const;
/** A day lies between two times, and a shard holds seven of them. */
export const TIMES = 24;
export const DAY_NANOS = 86_400_000_000_000n;

export type Database = (typeof DATABASES)[number];
export type Policy = (typeof POLICIES)[number];
export type Measurement = (typeof MEASUREMENTS)[number];
export type Tag = (typeof TAGS)[number];

export type Cell = {
  readonly database: Database;
  readonly policy: Policy;
  readonly measurement: Measurement;
  readonly tag: Tag;
  /** In days. */
  readonly time: number;
};

export function nameOf({ database, policy, measurement, tag, time }: Cell): string {
  return `${database}.${policy}.${measurement},t=${tag} ${time}`;
}

/** All there are. */
export const CELLS: readonly Cell[] = DATABASES.flatMap((database) =>
  POLICIES.flatMap((policy) =>
    MEASUREMENTS.flatMap((measurement) =>
      TAGS.flatMap((tag) =>
        Array.from({ length: TIMES }, (_, time): Cell => ({
          database,
          policy,
          measurement,
          tag,
          time,
        })),
      ),
    ),
  ),
);

/** The line of a cell with a value. */
export function lineOf({ measurement, tag, time }: Cell, value: number): string {
  return `${measurement},t=${tag} v=${value}i ${DAY_NANOS * BigInt(time)}\n`;
}
