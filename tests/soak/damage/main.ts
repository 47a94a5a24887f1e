// `npm run soak:damage [-- rounds [seed]]`
import { seededRandom } from '../../crash/engine/random.ts';
import { soakDamage } from './damage.ts';

const [rounds = 5, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  say('usage: npm run soak:damage [-- rounds [seed]]');
  process.exit(2);
}
say(`rounds ${rounds}, seed ${seed}`);
const result = await soakDamage({ rounds, random: seededRandom(seed), say });
process.exitCode = result.problems.length === 0 ? 0 : 1;
