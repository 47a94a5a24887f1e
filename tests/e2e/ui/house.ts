// A dashboard with a cell of each kind, and what it shows.

const MINUTES = 50;

/** Rooms of a house, a value a minute until now. */
export function houseLines(nowMs: number): string {
  const lines: string[] = [];
  for (let i = 0; i < MINUTES; i++) {
    const time = BigInt(nowMs - (MINUTES - i) * 60_000) * 1_000_000n;
    for (const [at, room] of ['attic', 'kitchen'].entries()) {
      const celsius = 18 + at * 3 + Math.sin(i / 8) * 2;
      const state = i < 20 ? 'ok' : i < 30 ? 'warning' : 'ok';
      lines.push(`room,name=${room} celsius=${celsius.toFixed(2)},state="${state}" ${time}`);
    }
  }
  lines.push(`event text="window opened" ${BigInt(nowMs - 25 * 60_000) * 1_000_000n}`);
  return lines.join('\n');
}

export const queryOf = (text: string) => ({ text, database: '', label: '' });
const MEAN = queryOf(
  'SELECT mean(celsius) FROM room WHERE $timeFilter AND "name" =~ /^$room$/ GROUP BY time($interval), "name" fill(none)',
);
export const place = (x: number, y: number, w = 4, h = 5) => ({ x, y, w, h });

/** One cell of each kind. */
export const HOUSE = {
  title: 'House',
  database: 'house',
  variables: [
    { name: 'room', kind: 'query', query: 'SHOW TAG VALUES WITH KEY = "name"', isMulti: true },
  ],
  annotations: [
    { name: 'events', kind: 'query', query: 'SELECT text FROM event WHERE $timeFilter' },
  ],
  cells: [
    { id: 'a', title: 'Lines', kind: 'line', queries: [MEAN], ...place(0, 0) },
    { id: 'b', title: 'Areas', kind: 'area', isStacked: true, queries: [MEAN], ...place(4, 0) },
    { id: 'c', title: 'Points', kind: 'scatter', queries: [MEAN], ...place(8, 0) },
    {
      id: 'd',
      title: 'Groups',
      kind: 'bar',
      queries: [queryOf('SELECT mean(celsius) FROM room WHERE $timeFilter GROUP BY "name"')],
      ...place(0, 5),
    },
    { id: 'e', title: 'Spread', kind: 'histogram', queries: [MEAN], ...place(4, 5) },
    { id: 'f', title: 'Heat', kind: 'heatmap', queries: [MEAN], ...place(8, 5) },
    {
      id: 'g',
      title: 'Now',
      kind: 'single',
      thresholds: [{ value: 15, level: 'good' }],
      queries: [MEAN],
      ...place(0, 10),
    },
    {
      id: 'h',
      title: 'Gauge',
      kind: 'gauge',
      max: 30,
      thresholds: [{ value: 21, level: 'warn' }],
      queries: [MEAN],
      ...place(4, 10),
    },
    {
      id: 'i',
      title: 'States',
      kind: 'states',
      queries: [queryOf('SELECT state FROM room WHERE $timeFilter GROUP BY "name"')],
      ...place(8, 10),
    },
    {
      id: 'j',
      title: 'Rows',
      kind: 'table',
      queries: [queryOf('SELECT last(celsius) FROM room GROUP BY "name"')],
      ...place(0, 15),
    },
    {
      id: 'k',
      title: 'About',
      kind: 'note',
      note: '# Read me\n\n- **warm**\n- `cold`',
      ...place(4, 15),
    },
    { id: 'l', title: 'Alerts', kind: 'alerts', ...place(8, 15) },
  ],
};
