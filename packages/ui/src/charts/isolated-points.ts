// Isolated values between gaps. No line leads to them, so they are drawn as dots: windows shorter
// than the interval of the points would otherwise give an empty chart.

/**
 * Indices of values with a gap, `null`, on both sides. `undefined` is no gap: the line continues.
 */
export function isolatedPoints(values: ArrayLike<number | null | undefined>): number[] {
  const places: number[] = [];
  let isGap = true;
  // Index of the previous value, if a gap precedes it.
  let place = -1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === undefined) continue;
    if (value === null && place >= 0) places.push(place);
    place = value !== null && isGap ? i : -1;
    isGap = value === null;
  }
  if (place >= 0) places.push(place);
  return places;
}
