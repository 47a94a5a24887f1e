// Labels of series in the rows of a scan: the number of the source in the plan, then the key.

const SEPARATOR = ' ';

export function seriesLabel(source: number, seriesKey: string): string {
  return `${source}${SEPARATOR}${seriesKey}`;
}

export function sourceOfLabel(label: string): number {
  return Number(label.slice(0, label.indexOf(SEPARATOR)));
}

export function keyOfLabel(label: string): string {
  return label.slice(label.indexOf(SEPARATOR) + 1);
}
