// `npm run soak:alerts [-- rounds [seed]]`
import { soakAlerts } from './alerts.ts';

const [rounds = 50, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  say('usage: npm run soak:alerts [-- rounds [seed]]');
  process.exit(2);
}
say(`rounds ${rounds}, seed ${seed}`);
say(JSON.stringify(await soakAlerts(rounds, seed, say)));
