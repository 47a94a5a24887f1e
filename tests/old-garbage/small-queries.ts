// Prints how many bytes each of some small queries leaves among the old objects, as JSON. Each is
// run alone in this process: what other tests keep would count, too.
import { getHeapSpaceStatistics } from 'node:v8';

import { ParseCache } from '@tidemark/influxql';
import { executeSelect, isPause } from '@tidemark/query';

import { memoryDisk } from '../../packages/storage/src/disk/memory-disk.ts';
import { openStorageInline } from '../../packages/storage/src/engine/open-inline.ts';
import { queryContext, write } from '../../packages/storage/src/testing/fixtures.ts';

const COUNT = 1000;

const options = { directory: '/old-garbage', hasBackgroundWork: false };
const engine = await openStorageInline(options, { disk: memoryDisk() });
const texts = new ParseCache({});
const lines = Array.from({ length: 100 }, (_, i) => `m,t=${i % 2},u=${i % 3} f=${i} ${i}\n`);
await write(engine, lines.join(''));

async function run(text: string): Promise<void> {
  for (let i = 0; i < COUNT; i++) {
    const [statement] = texts.parse(text).query.statements;
    if (statement?.kind !== 'select') throw new Error('not a SELECT');
    const snapshot = engine.source.snapshot();
    for (const step of executeSelect(statement, queryContext(engine, snapshot))) {
      if (isPause(step)) await step;
    }
    snapshot.close();
    // Nothing of a query that has ended is left when it is the second collection for it.
    if (i % 10 === 0) void globalThis.gc?.({ type: 'minor' });
  }
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}

const bytes: number[] = [];
for (const text of process.argv.slice(2)) {
  await run(text);
  const before = oldBytes();
  await run(text);
  bytes.push((oldBytes() - before) / COUNT);
}
await engine.close();
process.stdout.write(JSON.stringify(bytes));
