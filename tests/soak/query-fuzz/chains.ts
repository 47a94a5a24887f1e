// Sequences of statements in which each changes the data of the next: INTO, and deletes, followed
// by queries of the remaining data.
import { printStatement } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import { MEASUREMENTS, SPAN_SECONDS, START_SECONDS, TAGS } from './data.ts';
import type { Random } from './random.ts';
import { SPAN } from './trees.ts';

const TARGET = 'written';

/** Writes the answer of a SELECT to a measurement, reads that, and drops it. */
export function intoChain(statement: SelectStatement): readonly string[] {
  const into = { measurement: TARGET, isBackReference: false, span: SPAN };
  return [
    printStatement({ ...statement, into }),
    `SELECT * FROM ${TARGET} GROUP BY *`,
    `SHOW FIELD KEYS FROM ${TARGET}`,
    `SHOW TAG KEYS FROM ${TARGET}`,
    `DROP MEASUREMENT ${TARGET}`,
  ];
}

/** Before lines that are written, which stand among statements. */
export const WRITE = 'WRITE ';

/** Writes lines that are wrong in parts, and asks what is there. */
export function writeChain(random: Random): readonly string[] {
  return [
    ...random.list(1, 3, () => WRITE + random.list(1, 3, () => randomLine(random)).join('\n')),
    // By name: fields of lines that were refused are columns of wildcards there.
    ...[...MEASUREMENTS, 'w', '"time"'].map(
      (name) => `SELECT f, g, i, s, b, x FROM ${name} GROUP BY *`,
    ),
  ];
}

/** A line of one point. Often a field has another type, or a name is one that nobody may use. */
function randomLine(random: Random): string {
  const name = random.pick([...MEASUREMENTS, 'w', 'w', 'time']);
  const tags = random.pick([
    '',
    '',
    ',host=a',
    ',host=',
    ',time=1',
    ',zone=x,host=b',
    ',host=a,host=b',
  ]);
  const field = (): string => {
    const key = random.pick(['f', 'i', 's', 'b', 'time', 'x']);
    return `${key}=${random.pick(['1', '-2i', '"t"', 'true', '3u', '1e400', '', 'nosuch', '9223372036854775808i'])}`;
  };
  const time =
    random.pick(['', ' ', '1.5 ', 'x ']) + String(START_SECONDS + random.below(SPAN_SECONDS));
  const fields = random.list(1, 2, field).join();
  return `${name}${tags} ${fields} ${time}`;
}

/** Deletes, and asks what is left. */
export function deleteChain(random: Random): readonly string[] {
  return [
    ...random.list(1, 3, () => randomDelete(random)),
    // Fields of a shard without points are columns of wildcards there as long as the shard is.
    'SELECT f, g, i, s, b FROM /./ GROUP BY *',
    'SELECT count(f), count(s), first(f), last(i) FROM /./ GROUP BY host',
    'SHOW SERIES',
  ];
}

function randomDelete(random: Random): string {
  const from = random.pick([...MEASUREMENTS, '/^[mn]$/']);
  const tag = `${random.pick(TAGS)} ${random.pick(["= 'a'", "= 'x'", "!= 'b'", "= ''", '=~ /[ay]/'])}`;
  const bound = (): number => START_SECONDS + random.below(SPAN_SECONDS);
  const times = `time ${random.pick(['>=', '>'])} ${bound()}s AND time < ${bound()}s`;
  switch (random.below(6)) {
    case 0:
      return `DROP SERIES FROM ${from} WHERE ${tag}`;
    case 1:
      return `DROP MEASUREMENT ${random.pick(MEASUREMENTS)}`;
    case 2:
      return `DELETE FROM ${from} WHERE ${tag}`;
    case 3:
      return `DELETE WHERE ${times}`;
    case 4:
      return `DELETE FROM ${from} WHERE time < ${bound()}s`;
    default:
      return `DELETE FROM ${from} WHERE ${times} AND ${tag}`;
  }
}
