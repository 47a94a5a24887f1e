// Finds the runs of a block: consecutive rows of one series. Rows of larger batches are ordered by
// series (docs/adr/0008-rows-and-series-keys.md), so that work per run is done fifty times less
// often than work per row.

/** First rows of all runs among the first `rows` rows. */
export function runStarts(series: Uint32Array, rows: number): Uint32Array {
  let count = 0;
  for (let row = 0; row < rows; row++) if (row === 0 || series[row] !== series[row - 1]) count++;
  const starts = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (row === 0 || series[row] !== series[row - 1]) starts[at++] = row;
  }
  return starts;
}
