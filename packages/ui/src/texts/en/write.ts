import { count, counted } from './count.ts';

const refused = (lines: number): string =>
  lines === 0 ? '' : lines === 1 ? ', 1 line was refused' : `, ${count(lines)} lines were refused`;

export const write = {
  check: 'Check',
  checked: (points: number, measurements: string) =>
    points === 0 ? 'No points.' : `${counted(points, 'point')} of ${measurements}.`,
  choose: 'Choose a file',
  column: (name: string) => `Column ${name}`,
  database: 'Database',
  defaultPolicy: 'default',
  dropHint: 'Files can be dropped here.',
  faults: 'Lines that cannot be read',
  faulty: (lines: number) =>
    lines === 1
      ? '1 line cannot be read and will be refused.'
      : `${count(lines)} lines cannot be read and will be refused.`,
  kind: 'What it is',
  line: 'Line',
  lines: 'Line protocol',
  measurement: 'Measurement',
  nothing: 'No points yet',
  nothingHint: 'Paste points above, or choose a file. They are looked at before anything is sent.',
  placeholders: {
    lines: 'room,name=kitchen celsius=21.5 1700000000000000000',
    csv: 'time,name,celsius',
  },
  points: 'Points',
  policy: 'Retention policy',
  precision: 'Unit of times',
  precisions: {
    ns: 'nanoseconds',
    u: 'microseconds',
    ms: 'milliseconds',
    s: 'seconds',
    m: 'minutes',
    h: 'hours',
  },
  progress: 'Progress',
  reason: 'Reason',
  rejected: 'Lines that the database refused',
  roles: {
    ignore: 'nothing',
    time: 'time',
    tag: 'tag',
    float: 'field, number',
    integer: 'field, whole number',
    boolean: 'field, true or false',
    string: 'field, text',
  },
  send: (points: number, database: string) => `Write ${counted(points, 'point')} into ${database}`,
  someFaults: (shown: number, all: number) => `${shown} of ${count(all)} lines are shown.`,
  stopped: (line: number, reason: string) =>
    `The database took everything up to line ${count(line)}, and then gave up: ${reason}`,
  text: 'Text',
  title: 'Write',
  written: (points: number, rejected: number) =>
    `${counted(points, 'point')} ${points === 1 ? 'is' : 'are'} written${refused(rejected)}.`,
} as const;
