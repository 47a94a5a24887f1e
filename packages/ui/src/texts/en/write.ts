import { count, counted } from './count.ts';

const refused = (lines: number): string =>
  lines === 0 ? '' : lines === 1 ? ', 1 line rejected' : `, ${count(lines)} lines rejected`;

export const write = {
  check: 'Check',
  checked: (points: number, measurements: string) =>
    points === 0 ? 'No points.' : `${counted(points, 'point')} of ${measurements}.`,
  choose: 'Choose a file',
  column: (name: string) => `Column ${name}`,
  database: 'Database',
  defaultPolicy: 'default',
  dropHint: 'Files can be dropped here.',
  faults: 'Invalid lines',
  faulty: (lines: number) =>
    lines === 1
      ? '1 line is invalid and will be rejected.'
      : `${count(lines)} lines are invalid and will be rejected.`,
  kind: 'Format',
  line: 'Line',
  lines: 'Line protocol',
  measurement: 'Measurement',
  nothing: 'No points yet',
  nothingHint: 'Paste points above, or choose a file. They are checked before anything is sent.',
  placeholders: {
    lines: 'room,name=kitchen celsius=21.5 1700000000000000000',
    csv: 'time,name,celsius',
  },
  points: 'Points',
  policy: 'Retention policy',
  precision: 'Time precision',
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
  rejected: 'Rejected lines',
  roles: {
    ignore: 'ignore',
    time: 'time',
    tag: 'tag',
    float: 'field (number)',
    integer: 'field (integer)',
    boolean: 'field (boolean)',
    string: 'field (text)',
  },
  send: (points: number, database: string) => `Write ${counted(points, 'point')} into ${database}`,
  someFaults: (shown: number, all: number) => `${shown} of ${count(all)} lines are shown.`,
  stopped: (line: number, reason: string) => `Stopped after line ${count(line)}: ${reason}`,
  text: 'Text',
  title: 'Write',
  written: (points: number, rejected: number) =>
    `${counted(points, 'point')} written${refused(rejected)}.`,
} as const;
