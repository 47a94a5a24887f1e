// `npm run soak:engine-simulation [FIRST [COUNT]]`: many seeds of the simulated cluster. With
// `-- FIRST COUNT found` the first seed that fails is told as it is, not made shorter.
import { explore } from './explore.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const [first = '1', count = '100000', mode = ''] = process.argv.slice(2);
const numbers = function* (): Iterable<number> {
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    if (seed % 1000 === 0) say(`seed ${seed}`);
    yield seed;
  }
};
const { found, marks } = await explore(numbers(), { isShort: mode !== 'found' });
for (const [mark, count] of [...marks].sort()) say(`${mark}: ${count}`);
if (found !== undefined) {
  say(found.history.join('\n'));
  say(`seed ${found.seed} fails: ${found.failure}`);
  process.exitCode = 1;
}
