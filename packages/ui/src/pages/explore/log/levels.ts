// Levels of events, such as `error`: how severe they are, and their colours.

export type LevelLook = {
  /** A colour variable. */
  readonly colour: string;
  /** Needs attention: it stands out from the others. */
  readonly isSevere: boolean;
};

/** So many of the known levels are severe. */
const SEVERE_RANKS = 3;

const KNOWN: readonly { readonly names: readonly string[]; readonly colour: string }[] = [
  {
    names: ['emerg', 'emergency', 'panic', 'fatal', 'alert', 'crit', 'critical'],
    colour: 'level-critical',
  },
  { names: ['err', 'error', 'severe', 'failure'], colour: 'level-error' },
  { names: ['warn', 'warning'], colour: 'level-warning' },
  { names: ['notice'], colour: 'level-notice' },
  { names: ['info', 'information', 'informational', 'ok'], colour: 'level-info' },
  { names: ['debug', 'verbose', 'fine'], colour: 'level-debug' },
  { names: ['trace', 'finer', 'finest'], colour: 'level-trace' },
];

const RANKS = new Map(KNOWN.flatMap(({ names }, rank) => names.map((name) => [name, rank])));

/** The colour of texts of a level, and that of areas, which may be brighter. */
export const colourStyle = (colour: string): Readonly<Record<'--level' | '--area', string>> => ({
  '--level': `var(--${colour})`,
  '--area': `var(--${colour}-area, var(--${colour}))`,
});

/** Colours of values that are no levels, such as states of a job. */
const OTHERS = ['series-3', 'series-4', 'series-6', 'series-7', 'series-2', 'series-8'];

/** Looks of values, in the order of their severity; others follow by name. */
export function lookOfLevels(values: Iterable<string>): ReadonlyMap<string, LevelLook> {
  const rankOf = (value: string): number =>
    RANKS.get(value.trim().toLowerCase()) ?? (value === '' ? Infinity : KNOWN.length);
  const sorted = [...new Set(values)].toSorted(
    (a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0),
  );
  let others = 0;
  return new Map(
    sorted.map((value) => {
      const known = KNOWN[rankOf(value)];
      const colour =
        known?.colour ?? (value === '' ? 'level-none' : OTHERS[others++ % OTHERS.length]);
      return [value, { colour: colour ?? 'level-none', isSevere: rankOf(value) < SEVERE_RANKS }];
    }),
  );
}
