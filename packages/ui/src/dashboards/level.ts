// Levels of values (good, doubtful, bad), and their thresholds.
export const LEVELS = ['good', 'warn', 'bad'] as const;
export type Level = (typeof LEVELS)[number];

/** The level from a value on. */
export type CellThreshold = { readonly value: number; readonly level: Level };

/** The level of a value: that of the highest threshold reached. */
export function levelOf(value: number, thresholds: readonly CellThreshold[]): Level | undefined {
  return thresholds
    .filter((each) => value >= each.value)
    .toSorted((a, b) => a.value - b.value)
    .at(-1)?.level;
}
