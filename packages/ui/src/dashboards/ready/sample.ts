// The dashboard of the sample: a day of a house.
import { EMPTY_VARIABLE } from '../model.ts';
import { madeOf, mean } from './make.ts';

const ROOM = '$timeFilter AND "name" =~ /^$room$/';
const WARM = [
  { value: 15, level: 'good' as const },
  { value: 24, level: 'warn' as const },
];

export function sampleDashboard(database: string) {
  return madeOf(
    {
      title: 'Sample: a house',
      database,
      from: 'now-1d',
      variables: [
        {
          ...EMPTY_VARIABLE,
          name: 'room',
          kind: 'query',
          query: 'SHOW TAG VALUES FROM "room" WITH KEY = "name"',
          isMulti: true,
        },
      ],
      annotations: [
        { name: 'warm rooms', kind: 'alerts', query: '', database: '', topic: 'sample' },
      ],
    },
    [
      {
        title: 'Now',
        kind: 'single',
        w: 4,
        h: 5,
        thresholds: WARM,
        queries: [mean('celsius', 'room', ROOM, ', "name"')],
      },
      {
        title: 'Temperature',
        w: 8,
        h: 8,
        thresholds: WARM,
        queries: [['celsius', mean('celsius', 'room', ROOM, ', "name"')]],
      },
      {
        title: 'How warm, how often',
        kind: 'histogram',
        w: 4,
        h: 5,
        queries: [mean('celsius', 'room', ROOM, ', "name"')],
      },
      {
        title: 'Windows',
        kind: 'states',
        w: 8,
        h: 6,
        queries: [`SELECT "open" FROM "room" WHERE ${ROOM} GROUP BY "name"`],
      },
      {
        title: 'Humidity',
        kind: 'gauge',
        w: 4,
        h: 4,
        unit: 'percent',
        thresholds: [{ value: 65, level: 'warn' }],
        queries: [['mean', `SELECT mean("humidity") FROM "room" WHERE ${ROOM}`]],
      },
      { title: 'Alerts', kind: 'alerts', topic: 'sample', w: 12, h: 4 },
    ],
  );
}
