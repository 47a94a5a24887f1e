// A measurement of 20,000 fields of which each row has a hundred, as flattened documents and
// exporters of metrics write them: a load, statements that ask for few fields and for all of them,
// in memory and from files, and the disk at rest (that of influxd includes its log). Then a load of
// rows that have all of their 400 fields, which must not suffer. With influxd installed everything
// runs there too, in turns. Runs the built executable. packages/cli/bin/node --conditions=source
// tests/bench/server/sparse-fields.ts
import { query, write } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { each, note, rest, show, showNames, sizeMb } from './figures.ts';
import { quantile } from './lines.ts';
import { memoryMiB } from './processor.ts';

const FIELDS = 20_000;
const FIELDS_PER_ROW = 100;
const ROWS = 2000;
const BODY_ROWS = 200;
/** Fields of a row are so far apart; it shares no divisor with the number of fields. */
const STRIDE = 331;
const START_SECONDS = 1_700_000_000;
const DENSE_FIELDS = 400;
const DENSE_ROWS = 20_000;
const REPEATS = 5;

const STATEMENTS: readonly string[] = [
  'SELECT count(field_7) FROM sparse',
  'SELECT field_7, field_9 FROM sparse',
  'SELECT * FROM sparse LIMIT 5',
  'SELECT mean(*) FROM sparse',
  'SELECT last(/field_1999/) FROM sparse',
  'SHOW FIELD KEYS FROM sparse',
];

await withSubjects(async (subjects) => {
  showNames(subjects);
  const bodies = sparseBodies();
  await note(subjects, 'load', (subject) => load(subject, bodies));
  await ask(subjects, 'in memory');
  for (const subject of subjects) await rest(subject);
  show('disk at rest, MB', await each(subjects, async (subject) => sizeMb(subject.directory)));
  await ask(subjects, 'at rest');
  show('RSS, MiB', await each(subjects, async ({ pid }) => memoryMiB(pid, 'VmRSS')));
  const dense = denseBodies();
  const values = DENSE_FIELDS * DENSE_ROWS;
  const costs = await note(subjects, 'dense load', (subject) => load(subject, dense));
  show(
    'dense load, million values/s',
    costs.map((ms) => values / 1000 / ms),
  );
});

async function ask(subjects: readonly Subject[], where: string): Promise<void> {
  for (const statement of STATEMENTS) {
    const first = await each(subjects, ({ url }) => timeOf(url, statement));
    const again = await each(subjects, async ({ url }) => {
      const times: number[] = [];
      for (let i = 0; i < REPEATS; i++) times.push(await timeOf(url, statement));
      return quantile(
        times.toSorted((a, b) => a - b),
        0.5,
      );
    });
    show(`${where}: ${statement}, first ms`, first);
    show(`${where}: ${statement}, ms`, again);
  }
}

async function timeOf(url: string, statement: string): Promise<number> {
  const began = performance.now();
  await query(url, statement, DATABASE);
  return performance.now() - began;
}

async function load({ url }: Subject, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) await write(url, DATABASE, body, { precision: 's' });
}

function sparseBodies(): string[] {
  const bodies: string[] = [];
  let seed = 1;
  for (let at = 0; at < ROWS; at += BODY_ROWS) {
    const lines: string[] = [];
    for (let row = at; row < at + BODY_ROWS; row++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const fields: string[] = [];
      for (let i = 0; i < FIELDS_PER_ROW; i++) {
        const field = (seed + i * STRIDE) % FIELDS;
        fields.push(`field_${field}=${((field * 7 + row * 13) % 1000) / 4}`);
      }
      lines.push(`sparse,host=h ${fields.join(',')} ${START_SECONDS + row * 10}`);
    }
    bodies.push(lines.join('\n'));
  }
  return bodies;
}

function denseBodies(): string[] {
  const bodies: string[] = [];
  for (let at = 0; at < DENSE_ROWS; at += BODY_ROWS) {
    const lines: string[] = [];
    for (let row = at; row < at + BODY_ROWS; row++) {
      const fields = Array.from({ length: DENSE_FIELDS }, (_, i) => `f${i}=${(row + i) % 100}i`);
      lines.push(`dense,host=h${row % 10} ${fields.join(',')} ${START_SECONDS + row}`);
    }
    bodies.push(lines.join('\n'));
  }
  return bodies;
}
