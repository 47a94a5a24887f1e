// Isolated values between gaps. No line leads to them, so they are drawn as dots: windows that are
// shorter than the time between two points would otherwise leave an empty chart.

/**
 * Places of values that have a gap, `null`, on both sides; where there is nothing, `undefined`, the
 * line goes on.
 */
export function lonelyPlaces(values: ArrayLike<number | null | undefined>): number[] {
  const places: number[] = [];
  let isGap = true;
  // Of the value before, when a gap is before that.
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
