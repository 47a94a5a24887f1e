// `npm run soak:simulation [-- seeds [first]]`: everything that storage does at once, in the orders
// of so many seeds. One seed alone is told as a history; a failing one is made smaller first. With
// `-- seeds first first` the first that fails is the last, and is told as it is; with the words of
// a plan in `seeds/plans.ts` behind it, seeds are orders of that plan.
import { PLANS } from '../../../packages/storage/src/testing/simulation/seeds/plans.ts';
import { shrink } from '../../../packages/storage/src/testing/simulation/shrink/shrink.ts';
import { simulate } from '../../../packages/storage/src/testing/simulation/simulate.ts';
import { planOf } from '../../../packages/storage/src/testing/simulation/workload/operations.ts';
import type { Plan } from '../../../packages/storage/src/testing/simulation/workload/operations.ts';
import {
  describeOperation,
  describeSetup,
} from '../../../packages/storage/src/testing/simulation/workload/plan-words.ts';

const [count = 100_000, first = 1] = process.argv.slice(2, 4).map(Number);
const isOnlyFirst = process.argv[4] === 'first';
const chosen = PLANS.find(({ what }) => what === process.argv[5]);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
if (!Number.isInteger(count) || count < 1 || !Number.isInteger(first)) {
  say('usage: npm run soak:simulation [-- seeds [first]]');
  process.exit(2);
}

const started = performance.now();
const marks = new Map<string, number>();
let failures = 0;
for (let seed = first; seed < first + count; seed++) {
  const plan = chosen === undefined ? planOf(seed) : { ...chosen.plan, seed };
  const outcome = await simulate(plan);
  for (const [name, times] of outcome.marks) marks.set(name, (marks.get(name) ?? 0) + times);
  if (outcome.violation !== undefined) {
    failures++;
    say(`seed ${seed}: ${outcome.violation}`);
    if (isOnlyFirst) {
      say(`first failure: seed ${seed}`);
      break;
    }
    await tellSmaller(plan);
  } else if (count === 1) say(outcome.history.join('\n'));
  if ((seed - first) % 1000 === 999) say(`${seed - first + 1} seeds, ${failures} failures`);
}
const seconds = Math.round((performance.now() - started) / 1000);
const happened = [...marks].map(([name, times]) => `${name} ${times}`).join(', ');
say(`seeds ${first} to ${first + count - 1}: ${failures} failures, ${seconds} s; ${happened}`);
process.exitCode = failures === 0 ? 0 : 1;

async function tellSmaller(plan: Plan): Promise<void> {
  const smallest = await shrink(plan, async (one) => (await simulate(one)).violation !== undefined);
  const { history, violation } = await simulate(smallest);
  say(`smallest plan, order ${smallest.seed}, ${describeSetup(smallest.setup)}:`);
  for (const operation of smallest.operations) say(`  ${describeOperation(operation)}`);
  say(`its history:\n${history.join('\n')}\n${violation ?? ''}`);
}
