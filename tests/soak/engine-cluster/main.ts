// `npm run soak:engine-cluster [-- --rounds N --tasks N --points N …]`: fails if a point or an
// event is lost, a state differs from a single engine's, or nothing is acknowledged for longer than
// ten seconds.
import { parseArgs } from 'node:util';

import { ACTIONS } from './disturb.ts';
import { soakCluster } from './soak.ts';

const GAP_MS_MAX = 10_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    tasks: { type: 'string', default: '200' },
    /** Points per second. */
    points: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    /** `cluster.lease` in milliseconds. */
    lease: { type: 'string', default: '3000' },
    /** In leases: how long a leader and the last events are waited for. */
    patience: { type: 'string', default: '20' },
    /** Percent of one processor that each instance may use. */
    quota: { type: 'string' },
    actions: { type: 'string', default: ACTIONS.join(',') },
    /** In milliseconds: a gap of so long is told with what the instances have logged meanwhile. */
    timeline: { type: 'string', default: '5000' },
  },
});
const asked = values.actions.split(',');
const actions = ACTIONS.filter((action) => asked.includes(action));
if (actions.length < asked.length) throw new Error(`actions are ${ACTIONS.join(', ')}`);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(JSON.stringify(values));
const result = await soakCluster({
  rounds: Number(values.rounds),
  tasks: Number(values.tasks),
  pointsPerSecond: Number(values.points),
  seed: Number(values.seed),
  leaseMs: Number(values.lease),
  patienceLeases: Number(values.patience),
  quotaPercent: values.quota === undefined ? undefined : Number(values.quota),
  actions,
  timelineMs: Number(values.timeline),
  say,
});
const { problems, ...figures } = result;
say(JSON.stringify(figures, undefined, 2));
for (const problem of problems.slice(0, 100)) say(problem);
const slow = Object.entries(result.gapMsMax).filter(([, gap]) => gap > GAP_MS_MAX);
for (const [action, gap] of slow) say(`${action}: ${gap} ms without an acknowledgement`);
say(problems.length > 0 || slow.length > 0 ? `${problems.length} problems` : 'clean');
if (problems.length > 0 || slow.length > 0) process.exitCode = 1;
