// chande_momentum_oscillator: the balance of the moves up and down, from -100 to 100.
import type { Period, Transformation, TransformationContext, WarmUp } from '../transformation.ts';
import { ofMoves } from './exponential-average.ts';
import { holdPeriod, indicatorTransformation } from './indicator.ts';
import type { Indicator } from './indicator.ts';
import { floatRing } from './ring.ts';
import type { Ring } from './ring.ts';

/** (up - down) / (up + down) · 100. Without moves: 0, or NaN with smoothed moves. */
export function chandeMomentumOscillator(
  options: Period & { readonly warmUp: WarmUp | 'none' },
  context: TransformationContext,
): Transformation {
  const { period, hold, warmUp } = options;
  if (warmUp !== 'none') {
    return indicatorTransformation(ofMoves({ period, warmUp }, balance), holdPeriod(hold, period));
  }
  const moves = floatRing(period, context.hold);
  return indicatorTransformation(windowed(moves), holdPeriod(hold, period - 1), [moves]);
}

/** Sums over the moves in the ring; the first value has none. */
function windowed(moves: Ring<number>): Indicator {
  let up = 0;
  let down = 0;
  let previous: number | undefined;

  return (value) => {
    const move = previous === undefined ? 0 : value - previous;
    const leaving = moves.add(move);
    if (leaving > 0) up -= leaving;
    else if (leaving < 0) down += leaving;
    if (move > 0) up += move;
    // A move from or to NaN counts for neither.
    else if (move < 0) down -= move;
    previous = value;
    return up === 0 && down === 0 ? 0 : balance(up, down);
  };
}

function balance(up: number, down: number): number {
  return 100 * ((up - down) / (up + down));
}
