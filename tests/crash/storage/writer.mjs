// Child of the kill test: writes as fast as it can and prints a line per acknowledged batch. Never
// ends by itself.
import { openStorage } from '@tidemark/storage';

const [directory, round] = process.argv.slice(2);
const policy = {
  id: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  shardDurationNanos: 604_800_000_000_000n,
  maxSeriesPerDatabase: 0,
  maxValuesPerTag: 0,
};
const engine = await openStorage({
  directory,
  // Small, so that kills meet flushes and compactions too.
  memtableMaxBytes: 256 << 10,
  walMaxBytes: 128 << 10,
});
process.stdout.write('open\n');

const ROWS = 200;

async function writer(lane) {
  for (let batch = 0; ; batch++) {
    let lines = '';
    for (let row = 0; row < ROWS; row++) {
      const time = (batch * ROWS + row) * 1000;
      lines += `m,round=${round},lane=${lane},part=p${row % 7} v=${batch}i ${time}\n`;
    }
    const body = new TextEncoder().encode(lines);
    await engine.writeLines({ policy, body, precision: 'ns', now: 0n });
    process.stdout.write(`ack ${lane} ${batch}\n`);
  }
}

await Promise.all([writer(0), writer(1), writer(2)]);
