// Opening: from the log as a killed process leaves it, and after a clean stop. Arguments and
// figures: steps.ts.
import { Bench, load, measure, segmentBytes } from './steps.ts';

const bench = new Bench();
const engine = await bench.open();
const rows = await load(engine, 0);
const killed = bench.copy();
await measure('open, all rows in the log', rows, {
  work: () => killed.open(),
  bytes: async () => (await engine.statistics()).counters['walBytes'] ?? 0,
});
await killed.close();
await engine.flush();
await engine.close();
await measure('open, all rows in segments', rows, {
  work: () => bench.open(),
  bytes: segmentBytes,
});
await bench.close();
