// Lines in the colours of the thresholds that their values reach.
import type uPlot from 'uplot';

import type { Threshold } from './plot.ts';

/** From the bottom up: the colour of the series, then that of each threshold. */
export function strokeByValue(
  plot: uPlot,
  { colour, scale, thresholds }: ByValue,
): CanvasGradient | string {
  const { top, height } = plot.bbox;
  if (height <= 0) return colour;
  const bottom = top + height;
  const gradient = plot.ctx.createLinearGradient(0, bottom, 0, top);
  gradient.addColorStop(0, colour);
  let below = colour;
  for (const each of thresholds.toSorted((a, b) => a.value - b.value)) {
    const share = (bottom - plot.valToPos(each.value, scale, true)) / height;
    const at = Math.min(1, Math.max(0, share));
    gradient.addColorStop(at, below);
    gradient.addColorStop(at, each.colour);
    below = each.colour;
  }
  gradient.addColorStop(1, below);
  return gradient;
}

type ByValue = {
  readonly colour: string;
  readonly scale: string;
  readonly thresholds: readonly Threshold[];
};
