// `npm run soak:alerts [-- rounds [seed]]`
import { canMountTmpfs } from '@tidemark/testkit';
import { soakAlerts } from './alerts.ts';
import type { AlertLoad } from './alerts.ts';

const [rounds = 50, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  say('usage: npm run soak:alerts [-- rounds [seed]]');
  process.exit(2);
}
say(`rounds ${rounds}, seed ${seed}`);
const loads: AlertLoad[] = ['singles', 'bursts'];
if (canMountTmpfs()) loads.push('full disk');
for (const load of loads) {
  say(`${load}: ${JSON.stringify(await soakAlerts({ load, rounds, seed, say }))}`);
}
