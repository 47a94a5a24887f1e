// A flush of rows that lie in memory: into one new segment. Arguments and figures: steps.ts.
import { Bench, load, measure, segmentBytes } from './steps.ts';

const bench = new Bench();
const engine = await bench.open();
const rows = await load(engine, 0);
await measure('flush', rows, { work: () => engine.flush(), bytes: () => segmentBytes(engine) });
await bench.close();
