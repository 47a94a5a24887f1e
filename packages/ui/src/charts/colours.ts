// Colours of the design system for canvases, which cannot use CSS variables.
import type { ChartSeries } from './data.ts';

/** A colour variable (`series-1`) as resolved by the browser in the current theme: `rgb(…)`. */
export function resolveColour(name: string, within: HTMLElement = document.body): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  within.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Distinguishable ones; series beyond them are dashed. */
export const SERIES_COLOUR_COUNT = 20;

/** Colour variable of the series with an index. */
export const seriesColour = (index: number): string =>
  `series-${(index % SERIES_COLOUR_COUNT) + 1}`;

/** Colour variable of a series among others. */
export const colourOf = ({ look }: ChartSeries, index: number): string =>
  look?.colour ?? seriesColour(index);
