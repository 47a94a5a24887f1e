// `npm run soak:catalog [-- SEEDS [FIRST]]`: lives of a catalog in the orders of so many seeds.
// With a checker as third argument, seeds that another one fails are passed over.
import { Finding, simulate } from './simulate.ts';

const [count = 2000, first = 1] = process.argv.slice(2, 4).map(Number);
const checker = process.argv[4];
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const marks = new Map<string, number>();
let failures = 0;
for (let seed = first; seed < first + count && failures === 0; seed++) {
  try {
    await simulate(seed, marks);
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    if (checker !== undefined && error.checker !== checker) continue;
    failures++;
    say(`seed ${seed} fails: ${error.message.slice(0, 400)}`);
  }
}
for (const [what, times] of marks) say(`${what}: ${times}`);
say(`${count} seeds, ${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;
