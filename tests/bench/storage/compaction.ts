// Compaction of eight segments to one; megabytes are those that come out. Arguments and figures:
// steps.ts.
import { Bench, load, measure, segmentBytes } from './steps.ts';

const bench = new Bench();
const engine = await bench.open();
const rows = await load(engine, 8);
await measure('compaction, 8 segments', rows, {
  work: () => engine.compact(),
  bytes: () => segmentBytes(engine),
});
await bench.close();
