// The load of the task benchmarks: rows of ten fields or events with texts, one point per host
// every ten seconds, values from a fixed sequence; and scripts over it, one per node and the nine
// cases of the comparison with the existing engine.

const FIELDS = [
  'user',
  'system',
  'idle',
  'nice',
  'iowait',
  'irq',
  'softirq',
  'steal',
  'guest',
  'guest_nice',
].map((name) => `usage_${name}`);

const START_SECONDS = 1_700_000_000;
const ROWS_PER_WRITE = 5000;

/** Write bodies with timestamps in seconds. */
export function writes(rowCount: number, hostCount: number): Uint8Array[] {
  const bodies: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let lines: string[] = [];
  let seed = 42;
  for (let i = 0; i < rowCount; i++) {
    const host = i % hostCount;
    const time = START_SECONDS + Math.floor(i / hostCount) * 10;
    const fields = FIELDS.map((name) => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return `${name}=${((seed >>> 8) % 1000) / 10}`;
    });
    lines.push(`cpu,hostname=host_${host},region=r${host % 7} ${fields.join(',')} ${time}`);
    if (lines.length === ROWS_PER_WRITE) {
      bodies.push(encoder.encode(lines.join('\n')));
      lines = [];
    }
  }
  if (lines.length > 0) bodies.push(encoder.encode(lines.join('\n')));
  return bodies;
}

const LEVELS = ['info', 'info', 'debug', 'warning', 'info', 'error', 'info', 'info'];
const TEXT_BYTES_MIN = 80;
const TEXT_BYTES_RANGE = 121;

/**
 * Write bodies of events with timestamps in seconds: a message of 80 to 200 bytes, nearly all
 * distinct, a level of which one in eight is an error, and a code.
 */
export function eventWrites(rowCount: number, hostCount: number): Uint8Array[] {
  const bodies: Uint8Array[] = [];
  const encoder = new TextEncoder();
  for (let from = 0; from < rowCount; from += ROWS_PER_WRITE) {
    const count = Math.min(ROWS_PER_WRITE, rowCount - from);
    const lines = Array.from({ length: count }, (_, at) => {
      const i = from + at;
      const noise = Math.imul(i + 1, 2_654_435_761)
        .toString(16)
        .padStart(9, '0')
        .repeat(18);
      const message = `request ${i} from 10.0.${i % 251}.${i % 13} took ${i % 977} ms: ${noise}`;
      const text = message.slice(0, TEXT_BYTES_MIN + ((i * 31) % TEXT_BYTES_RANGE));
      const level = LEVELS[i % LEVELS.length];
      const time = START_SECONDS + Math.floor(i / hostCount) * 10;
      return `events,hostname=host_${i % hostCount} message="${text}",level="${level}",code=${i % 600}i ${time}`;
    });
    bodies.push(encoder.encode(lines.join('\n')));
  }
  return bodies;
}

export type BenchCase = {
  readonly name: string;
  readonly scripts: readonly string[];
  readonly hostCount: number;
  /** Rows come as results of a query, not as writes. */
  readonly isBatch?: true;
  /** The rows are events with texts. */
  readonly hasTexts?: true;
  /** Its points go through a child process, which is slow to start. */
  readonly hasProcess?: true;
  /** Rows per second of the existing engine on the reference machine, where it was measured. */
  readonly baselineRowsPerSecond?: number;
};

const FROM = "stream|from().measurement('cpu')";
const EVENTS = "stream|from().measurement('events').groupBy('hostname')";
const BY_HOST = `${FROM}.groupBy('hostname')`;

/** The cases of the comparison. */
export const COMPARED: readonly BenchCase[] = [
  {
    name: 'threshold',
    hostCount: 100,
    baselineRowsPerSecond: 41_000,
    scripts: [
      `${BY_HOST}|alert().crit(lambda: "usage_user" > 99.0).stateChangesOnly().topic('bench')`,
    ],
  },
  {
    name: 'window-aggregate',
    hostCount: 100,
    baselineRowsPerSecond: 137_000,
    scripts: [
      `${BY_HOST}|window().period(1m).every(1m)|mean('usage_user').as('m')|eval(lambda: "m" * 2.0 + 1.0).as('e').keep()|alert().crit(lambda: "e" > 150.0).stateChangesOnly().topic('bench')`,
    ],
  },
  {
    name: 'sliding-window',
    hostCount: 100,
    baselineRowsPerSecond: 166_000,
    scripts: [
      `${BY_HOST}|window().period(5m).every(1m)|percentile('usage_user', 95.0)|httpOut('o')`,
    ],
  },
  {
    name: 'eval-chain',
    hostCount: 100,
    baselineRowsPerSecond: 110_000,
    scripts: [
      `${FROM}|eval(lambda: "usage_user" + "usage_system").as('a').keep()|eval(lambda: "a" * 2.0).as('b').keep()|where(lambda: "b" > 10.0)|eval(lambda: abs("b" - "usage_idle")).as('c').keep()|eval(lambda: if("c" > 50.0, 1, 0)).as('d').keep()|httpOut('o')`,
    ],
  },
  {
    name: 'join',
    hostCount: 100,
    baselineRowsPerSecond: 113_000,
    scripts: [
      `var a = ${BY_HOST}\nvar b = ${BY_HOST}\na|join(b).as('x','y')|eval(lambda: "x.usage_user" - "y.usage_user").as('d')|httpOut('o')`,
    ],
  },
  {
    name: 'fifty-tasks',
    hostCount: 100,
    baselineRowsPerSecond: 28_000,
    scripts: Array.from(
      { length: 50 },
      (_, i) =>
        `${FROM}.where(lambda: "hostname" == 'host_${i * 2}' OR "hostname" == 'host_${i * 2 + 1}')|alert().crit(lambda: "usage_user" > 99.0).stateChangesOnly().topic('bench')`,
    ),
  },
  {
    name: 'many-groups',
    hostCount: 50_000,
    baselineRowsPerSecond: 137_000,
    scripts: [`${BY_HOST}|stateCount(lambda: "usage_user" > 50.0)|httpOut('o')`],
  },
  {
    name: 'text-filter',
    hostCount: 100,
    hasTexts: true,
    scripts: [
      `${EVENTS}|where(lambda: "level" == 'error')|eval(lambda: regexReplace(/request [0-9]+/, "message", 'request')).as('kind').keep()|httpOut('o')`,
    ],
  },
  {
    name: 'text-alert',
    hostCount: 100,
    hasTexts: true,
    scripts: [
      `${EVENTS}|alert().crit(lambda: "level" == 'error').message('{{ .Level }}: {{ index .Fields "message" }}').topic('bench')`,
    ],
  },
];

const node = (name: string, chain: string, from = BY_HOST): BenchCase => ({
  name,
  hostCount: 100,
  scripts: [from + chain],
});

const windowed = (name: string, chain: string): BenchCase =>
  node(name, `|window().period(1m).every(1m)${chain}`);

const FUNCTIONS = ['count', 'distinct', 'mean', 'median', 'mode', 'spread', 'sum', 'first', 'last'];

/** One case per node. */
export const NODES: readonly BenchCase[] = [
  node('from', '', FROM),
  node('from where', `.where(lambda: "usage_user" > 50.0)`, FROM),
  node('where', '|where(lambda: "usage_user" > 50.0)'),
  node('eval', `|eval(lambda: "usage_user" * 2.0).as('a')`),
  node('eval keep', `|eval(lambda: "usage_user" * 2.0).as('a').keep()`),
  node('groupBy', `|groupBy('region')`),
  node('default', `|default().field('extra', 1.0)`),
  node('delete', `|delete().field('usage_user')`),
  node('shift', '|shift(1h)'),
  node('sample', '|sample(3)'),
  node('derivative', `|derivative('usage_user')`),
  node('changeDetect', `|changeDetect('usage_user')`),
  node('stateDuration', `|stateDuration(lambda: "usage_user" > 50.0)`),
  node('stateCount', `|stateCount(lambda: "usage_user" > 50.0)`),
  node('elapsed', `|elapsed('usage_user', 1s)`),
  node('difference', `|difference('usage_user')`),
  node('movingAverage', `|movingAverage('usage_user', 10)`),
  node('cumulativeSum', `|cumulativeSum('usage_user')`),
  node('flatten', `|flatten().on('region')`),
  node('combine', `|combine(lambda: TRUE, lambda: FALSE).as('a', 'b')`),
  node('httpOut', `|httpOut('o')`),
  node('alert', `|alert().crit(lambda: "usage_user" > 99.0)`),
  windowed('window', ''),
  node('window count', '|window().periodCount(6).everyCount(6)'),
  ...FUNCTIONS.map((name) => windowed(name, `|${name}('usage_user')`)),
  windowed('min', `|min('usage_user')`),
  windowed('max', `|max('usage_user')`),
  windowed('stddev', `|stddev('usage_user')`),
  windowed('percentile', `|percentile('usage_user', 95.0)`),
  windowed('top', `|top(2, 'usage_user')`),
  windowed('bottom', `|bottom(2, 'usage_user')`),
  windowed('trickle', '|trickle()'),
  windowed('holtWinters', `|holtWinters('usage_user', 1, 0, 10s)`),
  windowed('holtWintersWithFit', `|holtWintersWithFit('usage_user', 1, 0, 10s)`),
  node('window and where', `|window().period(1m).every(1m)|where(lambda: count() > 2)`),
  node('log', `|log().level('DEBUG')`),
  node('stats', '|stats(1s)'),
  node('deadman', '|deadman(0.0, 1s)'),
  node('barrier', '|barrier().period(10s)'),
  node('sideload', `|sideload().source('file:///nowhere').order('h.yml').field('limit', 1.0)`),
  node('influxDBOut', `|influxDBOut().database('o').buffer(1000)`),
  node('kapacitorLoopback', `|kapacitorLoopback().database('o').retentionPolicy('p')`),
  windowed('httpPost', `|mean('usage_user')|httpPost('http://127.0.0.1:9/')`),
  windowed(
    'k8sAutoscale',
    `|mean('usage_user')|k8sAutoscale().resourceName('x').replicas(lambda: 2)`,
  ),
  windowed(
    'swarmAutoscale',
    `|mean('usage_user')|swarmAutoscale().serviceName('x').replicas(lambda: 2)`,
  ),
  windowed('ec2Autoscale', `|mean('usage_user')|ec2Autoscale().groupName('x').replicas(lambda: 2)`),
  {
    name: 'query',
    hostCount: 100,
    isBatch: true,
    scripts: ["batch|query('SELECT * FROM d.r.cpu').period(1m).every(1m).groupBy('hostname')"],
  },
  {
    name: 'udf',
    hostCount: 100,
    hasProcess: true,
    scripts: [`${BY_HOST}@udf().field('usage_user')`],
  },
  {
    name: 'join',
    hostCount: 100,
    scripts: [`var a = ${BY_HOST}\nvar b = ${BY_HOST}\na|join(b).as('x', 'y')`],
  },
  {
    name: 'join of windows',
    hostCount: 100,
    scripts: [
      `var a = ${BY_HOST}|window().period(1m).every(1m)\nvar b = ${BY_HOST}|window().period(1m).every(1m)\na|join(b).as('x', 'y')`,
    ],
  },
  {
    name: 'union',
    hostCount: 100,
    scripts: [`var a = ${BY_HOST}\nvar b = ${BY_HOST}\na|union(b)`],
  },
];
