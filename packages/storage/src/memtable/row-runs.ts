// Where the series of a block changes. Rows of larger batches come by series
// (docs/adr/0008-rows-and-series-keys.md), so that what is done once per run is done fifty
// times less often than what is done per row.

/** First rows of the runs of one series among the first `rows` rows. */
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
