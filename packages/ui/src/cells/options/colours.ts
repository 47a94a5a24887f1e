// Maps colours of other systems to ours: three levels, and eight colours of series. Themes differ,
// so a colour is mapped to the nearest one.
import type { Level } from '../../dashboards/level.ts';

/** Names, and hues in degrees of a circle. */
const HUES: readonly (readonly [name: RegExp, hue: number])[] = [
  [/green|honeydew|rainforest|viridian|krypton|emerald/i, 120],
  [/red|ruby|fire|curacao|dreamsicle/i, 0],
  [/orange|tiger|pineapple/i, 30],
  [/yellow|thunder|sulfur|daisy/i, 50],
  [/blue|ocean|laser|pool|planet|sky/i, 215],
  [/purple|violet|amethyst|comet|potassium/i, 275],
  [/pink|magenta/i, 325],
];

/** The hue of a name or of a code such as `#73BF69` or `rgba(1, 2, 3, 0.9)`. */
function hueOf(colour: string): number | undefined {
  const code = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(colour);
  const given = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(colour);
  const parts =
    code !== null
      ? code.slice(1, 4).map((part) => Number.parseInt(part, 16))
      : given?.slice(1, 4).map(Number);
  if (parts === undefined) return HUES.find(([name]) => name.test(colour))?.[1];
  const [r = 0, g = 0, b = 0] = parts;
  const max = Math.max(r, g, b);
  const spread = max - Math.min(r, g, b);
  if (spread < 24) return undefined;
  const turn =
    max === r ? (g - b) / spread : max === g ? (b - r) / spread + 2 : (r - g) / spread + 4;
  return (turn * 60 + 360) % 360;
}

const distance = (a: number, b: number): number => Math.min(Math.abs(a - b), 360 - Math.abs(a - b));

/** The nearest of green, orange and red; a colour that is none of them is doubtful. */
export function levelOfColour(colour: string): Level {
  const hue = hueOf(colour);
  if (hue === undefined) return 'warn';
  if (distance(hue, 115) <= 50) return 'good';
  return distance(hue, 355) <= 20 ? 'bad' : 'warn';
}

/** Hues of `--series-1` and the following (`tokens.css`); the eighth is grey. */
const SERIES_HUES = [195, 22, 138, 277, 342, 47, 226];

/** The nearest colour of series; `undefined` for greys and unknown names. */
export function seriesColourOf(colour: string): string | undefined {
  const hue = hueOf(colour);
  if (hue === undefined) return undefined;
  const nearest = SERIES_HUES.map((each, i) => ({ i, by: distance(each, hue) })).toSorted(
    (a, b) => a.by - b.by,
  )[0];
  return `series-${(nearest?.i ?? 0) + 1}`;
}
