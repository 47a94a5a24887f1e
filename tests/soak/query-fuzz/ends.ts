// Points that share their times, in many series and in several shards, and random statements about
// their order and about the choice of `first` and `last` among them. They are separate from other
// statements, for which the order of equal times is not defined.
import type {
  Expression,
  MeasurementSource,
  SelectField,
  SelectStatement,
  Source,
  Statement,
} from '@tidemark/influxql';

import { DATABASE, FIELDS, MEASUREMENTS, SPAN_SECONDS, START_SECONDS, TAGS } from './data.ts';
import type { Line } from './data.ts';
import type { Random } from './random.ts';
import { randomCondition } from './statements.ts';
import { call, duration, reference, SPAN } from './trees.ts';

const MOST_SERIES = 40;
const WEEK_SECONDS = 7 * 24 * 3600;

/** Lines with timestamps in seconds; few different ones. */
export function randomTiedLines(random: Random): readonly Line[] {
  const lines: Line[] = [];
  const weeks = 1 + random.below(3);
  const step = SPAN_SECONDS / (1 + random.below(6));
  for (const measurement of MEASUREMENTS) {
    const count = 1 + random.below(MOST_SERIES);
    for (let k = 0; k < count; k++) {
      const zone = random.pick(['', 'x', 'y']);
      const host = random.pick(['a', 'b', 'h'] as const) + String(k);
      const tags = `host=${host}${zone === '' ? '' : `,zone=${zone}`}`;
      const points = 1 + random.below(4);
      for (let i = 0; i < points; i++) {
        const time = random.below(weeks) * WEEK_SECONDS + Math.floor(random.below(4) * step);
        const fields = randomFields(random);
        if (fields !== '') lines.push(`${measurement},${tags} ${fields} ${START_SECONDS + time}`);
      }
    }
  }
  return lines;
}

function randomFields(random: Random): string {
  const fields: string[] = [];
  if (random.chance(0.8)) fields.push(`f=${random.below(12) / 4 - 1}`);
  if (random.chance(0.2)) fields.push(`g=${random.below(40) / 8}`);
  if (random.chance(0.6)) fields.push(`i=${random.below(9) - 4}i`);
  if (random.chance(0.5)) fields.push(`s="${random.pick(['red', 'green', 'blue'])}"`);
  if (random.chance(0.5)) fields.push(`b=${random.chance(0.5)}`);
  return fields.join(',');
}

/** A statement of `first` and `last`, or of the rows that they pick from. */
export function randomEnds(random: Random): Statement {
  const isRaw = random.chance(0.15);
  const hasWindow = !isRaw && random.chance(0.25);
  const isDescending = random.chance(0.2);
  const select: SelectStatement = {
    kind: 'select',
    fields: isRaw ? randomNames(random) : randomColumns(random, hasWindow),
    sources: randomSources(random),
    condition: hasWindow || random.chance(0.5) ? randomCondition(random, hasWindow) : undefined,
    dimensions: randomDimensions(random, hasWindow),
    fill: hasWindow ? { kind: 'none' } : undefined,
    orderBy: isDescending ? { descending: true } : undefined,
    ...(random.chance(0.1) ? { limit: 1n } : {}),
    span: SPAN,
  };
  return !isRaw && random.chance(0.15) ? around(select) : select;
}

/** With the groups of the subquery: coarser ones change what is picked in it (excuses.ts). */
function around(statement: SelectStatement): SelectStatement {
  const fields = statement.fields
    .slice(0, FIELDS.length)
    .map((field, i): SelectField => ({ ...field, alias: FIELDS[i] }));
  const inner = { ...statement, fields, orderBy: undefined, limit: undefined };
  return {
    kind: 'select',
    fields: [{ expression: reference(FIELDS[0]), span: SPAN }],
    sources: [{ kind: 'subquery', statement: inner, span: SPAN }],
    dimensions: statement.dimensions.filter(({ kind }) => kind !== 'call'),
    span: SPAN,
  };
}

function randomColumns(random: Random, hasWindow: boolean): readonly SelectField[] {
  const end = (): Expression =>
    call(random.pick(['first', 'last']), [
      random.chance(0.08) ? { kind: 'wildcard', span: SPAN } : reference(random.pick(FIELDS)),
    ]);
  const expressions = [end()];
  switch (random.below(4)) {
    case 0:
      // Which of several equal points of a window is picked depends on the server's processors.
      if (hasWindow) break;
      expressions.push(...random.list(1, 2, () => reference(random.pick([...FIELDS, ...TAGS]))));
      break;
    case 1:
      expressions.push(end());
      if (random.chance(0.5)) {
        expressions.push(call(random.pick(['mean', 'count', 'median']), [reference('f')]));
      }
      break;
    default:
  }
  return expressions.map((expression) => ({ expression, span: SPAN }));
}

function randomNames(random: Random): readonly SelectField[] {
  const names = random.list(1, 3, () => random.pick([...FIELDS, ...TAGS]));
  return names.map((name) => ({ expression: reference(name), span: SPAN }));
}

function randomSources(random: Random): readonly Source[] {
  const named = (name: string): MeasurementSource => ({
    kind: 'measurement',
    ...(random.chance(0.1) ? { database: DATABASE, retentionPolicy: 'autogen' } : {}),
    name,
    span: SPAN,
  });
  if (random.chance(0.1)) return [{ kind: 'measurement', pattern: '^[mn]$', span: SPAN }];
  return random.chance(0.1) ? MEASUREMENTS.map(named) : [named(random.pick(MEASUREMENTS))];
}

function randomDimensions(random: Random, hasWindow: boolean): readonly Expression[] {
  const tags: Expression[] = random.chance(0.1)
    ? [{ kind: 'wildcard', span: SPAN }]
    : random.chance(0.5)
      ? [reference(random.pick(TAGS))]
      : [];
  if (!hasWindow) return tags;
  return [call('time', [duration(random.pick([3600, 86_400, 4 * WEEK_SECONDS]))]), ...tags];
}
