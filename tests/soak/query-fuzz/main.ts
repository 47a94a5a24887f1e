// Compares Tidemark with a reference server on random data and statements. See README.md.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { concerning } from './excuses.ts';
import { asRecordedCase, fuzz } from './fuzz.ts';
import { Server } from './server.ts';
import { randomShow } from './shows.ts';
import { randomStatement } from './statements.ts';

const { values } = parseArgs({
  options: {
    reference: { type: 'string' },
    candidate: { type: 'string' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    out: { type: 'string' },
    only: { type: 'string' },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  const { reference, candidate, out, only } = values;
  if (reference === undefined || candidate === undefined || (only ?? 'shows') !== 'shows') {
    print(
      'usage: main.ts --reference URL --candidate URL [--seed N] [--seconds S] [--out FILE] [--only shows]',
    );
    process.exitCode = 2;
    return;
  }
  const end = performance.now() + Number(values.seconds) * 1000;
  const report = await fuzz({
    reference: new Server(reference),
    candidate: new Server(candidate),
    seed: Number(values.seed),
    statementsPerRound: 60,
    randomStatement: only === 'shows' ? randomShow : randomStatement,
    isOver: () => performance.now() > end,
    onDifference: (found) => {
      print(`\nseed ${found.seed}: ${found.text}\n  ${found.what}`);
      for (const line of found.lines) print(`    ${line}`);
      for (const reason of concerning(found.text)) print(`  not explained by: ${reason}`);
      print(`  reference ${found.reference.body.trim().slice(0, 1000)}`);
      print(`  candidate ${found.candidate.body.trim().slice(0, 1000)}`);
      if (out !== undefined) appendFileSync(out, `${asRecordedCase(found)}\n`);
    },
  });
  print(`\nseed ${values.seed}: ${JSON.stringify(report)}`);
  process.exitCode = report.differences === 0 ? 0 : 1;
}

await main();
