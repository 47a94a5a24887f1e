// `npm run soak:alerts [-- rounds [seed]]`
import { soakAlerts } from './alerts.ts';

const [rounds = 50, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number);
console.log(`rounds ${rounds}, seed ${seed}`);
console.log(await soakAlerts(rounds, seed, (line) => console.log(line)));
