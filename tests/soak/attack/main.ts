// `npm run soak:attack [-- minutes [seed]]`
import { attack } from './attack.ts';

const [minutes = 60, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv
  .slice(2)
  .map(Number);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
if (!(minutes > 0) || !Number.isInteger(seed)) {
  say('usage: npm run soak:attack [-- minutes [seed]]');
  process.exit(2);
}
say(`${minutes} minutes, seed ${seed}`);
const { rounds, finding, counts } = await attack({
  seed,
  durationMs: minutes * 60_000,
  mounts: true,
  say,
});
say(finding ?? 'nothing found');
say(
  `${rounds} rounds, ${[...counts]
    .sort()
    .map(([name, times]) => `${name} ${times}`)
    .join(', ')}`,
);
process.exitCode = finding === undefined ? 0 : 1;
