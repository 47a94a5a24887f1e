// `npm run soak:disk-full [-- rounds [seed]]`
import { soakFullDisk } from './disk-full.ts';
import { seededRandom } from '@tidemark/testkit';

const [rounds = 20, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  say('usage: npm run soak:disk-full [-- rounds [seed]]');
  process.exit(2);
}
say(`rounds ${rounds}, seed ${seed}`);
say(
  JSON.stringify(
    await soakFullDisk({
      rounds,
      diskMebibytes: 48,
      mounts: true,
      random: seededRandom(seed),
      say,
    }),
  ),
);
