export const charts = {
  atCursor: 'At cursor',
  keys: 'Arrow keys move, plus and minus zoom, Home shows all',
  last: 'Last',
  legend: 'Legend',
  max: 'Max',
  mean: 'Mean',
  min: 'Min',
  series: 'Series',
  seriesCount: (value: number) => `${value} series`,
  someSeries: (shown: number, all: number) =>
    `${shown} of ${all} series are drawn. Group by fewer tags, or filter, to see the others.`,
} as const;
