export const charts = {
  atCursor: 'At cursor',
  keys: 'Comma and period read values, arrow keys move, plus and minus zoom, Home shows all, Enter selects the range shown',
  last: 'Last',
  legend: 'Legend',
  linkOf: (series: string) => `Link of ${series}`,
  max: 'Max',
  mean: 'Mean',
  min: 'Min',
  moreSeries: (more: number) => `${more} more series`,
  search: 'Search series',
  series: 'Series',
  seriesCount: (value: number) => `${value} series`,
  someSeries: (shown: number, all: number) =>
    `${shown} of ${all} series are drawn. Group by fewer tags, or filter, to see the others.`,
} as const;
