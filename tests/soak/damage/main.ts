// `npm run soak:damage [-- rounds [seed [n]]]`: with `n`, one of so many damages is tried.
import { seededRandom } from '@tidemark/testkit';
import { soakDamage } from './damage.ts';

const [rounds = 1, seed = Math.floor(Math.random() * 2 ** 31), oneOf = 1] = process.argv
  .slice(2)
  .map(Number);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed) || !(oneOf >= 1)) {
  say('usage: npm run soak:damage [-- rounds [seed [n]]]');
  process.exit(2);
}
say(`rounds ${rounds}, seed ${seed}, one of ${oneOf}`);
const result = await soakDamage({ rounds, random: seededRandom(seed), oneOf, say });
process.exitCode = result.problems.length === 0 ? 0 : 1;
