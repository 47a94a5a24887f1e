// Labels of an axis of time, at round times of the zone.
import { widthFrom } from '../../../query/macros.ts';
import type { Span } from '../../../time/range.ts';
import { formatInstant, wallClock, zoneName } from '../../../time/zone.ts';

const LABELS = 6;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A label closer to an end than this part of the span would stick out. */
const MARGIN = 0.03;

export type Tick = { readonly ms: number; readonly text: string };

export function axisTicks({ fromMs, toMs }: Span, zone: string): readonly Tick[] {
  const step = widthFrom((toMs - fromMs) / LABELS);
  const wall = wallClock(fromMs, zoneName(zone));
  const first = fromMs + (Math.ceil(wall / step) * step - wall);
  const margin = (toMs - fromMs) * MARGIN;
  const ticks: Tick[] = [];
  for (let ms = first; ms <= toMs - margin; ms += step) {
    if (ms < fromMs + margin) continue;
    const text = formatInstant(ms, zone);
    ticks.push({
      ms,
      text: step >= DAY_MS ? text.slice(5, 10) : text.slice(11, step >= MINUTE_MS ? 16 : 19),
    });
  }
  return ticks;
}
