// Generates the script of a rule from a form. The script is authoritative: it is shown, and may be
// edited afterwards.
import { formatFloat } from '@tidemark/tickscript';

export const RULE_KINDS = ['threshold', 'relative', 'deadman'] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

export const FUNCTIONS = [
  'none',
  'mean',
  'max',
  'min',
  'sum',
  'count',
  'median',
  'stddev',
  'last',
] as const;
export const OPERATORS = ['>', '>=', '<', '<='] as const;
export const CHANGES = ['percent', 'difference'] as const;

/** What is chosen. Numbers and durations are texts, as they are typed. */
export type Rule = {
  readonly kind: RuleKind;
  readonly name: string;
  readonly database: string;
  readonly policy: string;
  readonly measurement: string;
  readonly field: string;
  /** Tags by which series are told apart: each group has an event of its own. */
  readonly groupBy: readonly string[];
  /** Only points with this tag; no tag means all. */
  readonly whereTag: string;
  readonly whereValue: string;
  /** What is made of the values of each window; `none` looks at every point. */
  readonly function: (typeof FUNCTIONS)[number];
  readonly period: string;
  readonly every: string;
  readonly operator: (typeof OPERATORS)[number];
  /** '' where there is no such level. */
  readonly warn: string;
  readonly crit: string;
  /** Relative: with which time it is compared, and how. */
  readonly shift: string;
  readonly change: (typeof CHANGES)[number];
  /** Deadman: for so long no point. */
  readonly silence: string;
  readonly topic: string;
};

export const EMPTY_RULE: Rule = {
  kind: 'threshold',
  name: '',
  database: '',
  policy: 'autogen',
  measurement: '',
  field: '',
  groupBy: [],
  whereTag: '',
  whereValue: '',
  function: 'mean',
  period: '5m',
  every: '1m',
  operator: '>',
  warn: '',
  crit: '90',
  shift: '1h',
  change: 'percent',
  silence: '10m',
  topic: 'alerts',
};

/** A text of the script language. */
const text = (value: string): string => `'${value.replaceAll("'", String.raw`\'`)}'`;

/** A field or tag within a lambda. */
const reference = (name: string): string => `"${name.replaceAll('"', String.raw`\"`)}"`;

/** A number as a float of the script language, as the value is. */
const number = (value: string): string => formatFloat(Number(value));

const isNumber = (value: string): boolean => value.trim() !== '' && Number.isFinite(Number(value));

const isDuration = (value: string): boolean => /^[1-9]\d*(?:u|ms|s|m|h|d|w)$/.test(value);

export type RuleField = keyof Rule;

/** What is missing or wrong, by field; a rule without any makes a script that is right. */
export function mistakesOf(rule: Rule): ReadonlySet<RuleField> {
  const wrong = new Set<RuleField>();
  const need = (field: RuleField, isRight: boolean): void => {
    if (!isRight) wrong.add(field);
  };
  need('name', /^[-.\w]+$/.test(rule.name));
  need('topic', /^[-.:\w]+$/.test(rule.topic));
  for (const field of ['database', 'policy', 'measurement'] as const) {
    need(field, rule[field] !== '');
  }
  if (rule.kind === 'deadman') {
    need('silence', isDuration(rule.silence));
    return wrong;
  }
  need('field', rule.field !== '');
  need('crit', rule.crit.trim() === '' ? isNumber(rule.warn) : isNumber(rule.crit));
  need('warn', rule.warn.trim() === '' || isNumber(rule.warn));
  if (hasWindow(rule)) {
    need('period', isDuration(rule.period));
    need('every', isDuration(rule.every));
  }
  if (rule.kind === 'relative') need('shift', isDuration(rule.shift));
  return wrong;
}

/** A comparison with the past needs windows: points seldom come at the same moment of an hour. */
export function hasWindow(rule: Pick<Rule, 'kind' | 'function'>): boolean {
  return rule.kind === 'relative' || (rule.kind === 'threshold' && rule.function !== 'none');
}

/** The script of a rule. */
export function scriptOf(rule: Rule): string {
  const lines = {
    threshold: thresholdLines,
    relative: relativeLines,
    deadman: deadmanLines,
  }[rule.kind](rule);
  return `${lines.join('\n')}\n`;
}

function sourceLines(rule: Rule): readonly string[] {
  const { database, policy, measurement, groupBy, whereTag, whereValue } = rule;
  return [
    'stream',
    '    |from()',
    `        .database(${text(database)})`,
    `        .retentionPolicy(${text(policy)})`,
    `        .measurement(${text(measurement)})`,
    ...(groupBy.length === 0 ? [] : [`        .groupBy(${groupBy.map(text).join(', ')})`]),
    ...(whereTag === ''
      ? []
      : [`        .where(lambda: ${reference(whereTag)} == ${text(whereValue)})`]),
  ];
}

function windowLines(rule: Rule): readonly string[] {
  const made = rule.function === 'none' ? 'mean' : rule.function;
  return [
    '    |window()',
    `        .period(${rule.period})`,
    `        .every(${rule.every})`,
    '        .align()',
    `    |${made}(${text(rule.field)})`,
    "        .as('value')",
  ];
}

/** Properties of the alert that all kinds have. */
function tellingLines({ name, topic }: Rule, saying: string): readonly string[] {
  return [
    `        .id(${text(`${name} {{ .Group }}`)})`,
    `        .message(${text(`{{ .ID }} is {{ .Level }}: ${saying}`)})`,
    '        .stateChangesOnly()',
    `        .topic(${text(topic)})`,
  ];
}

function levelLines(rule: Rule): readonly string[] {
  const level = (name: string, limit: string): readonly string[] =>
    limit.trim() === ''
      ? []
      : [`        .${name}(lambda: float("value") ${rule.operator} ${number(limit)})`];
  return [...level('warn', rule.warn), ...level('crit', rule.crit)];
}

function thresholdLines(rule: Rule): readonly string[] {
  const value = hasWindow(rule)
    ? windowLines(rule)
    : [`    |eval(lambda: ${reference(rule.field)})`, "        .as('value')"];
  return [
    ...sourceLines(rule),
    ...value,
    '    |alert()',
    ...tellingLines(rule, `${rule.field} is {{ index .Fields "value" }}`),
    ...levelLines(rule),
  ];
}

function relativeLines(rule: Rule): readonly string[] {
  const difference = 'float("now.value") - float("past.value")';
  const change =
    rule.change === 'percent' ? `(${difference}) / float("past.value") * 100.0` : difference;
  const unit = rule.change === 'percent' ? '%' : '';
  const [first = '', ...rest] = [...sourceLines(rule), ...windowLines(rule)];
  return [
    `var now = ${first}`,
    ...rest,
    '',
    'var past = now',
    `    |shift(${rule.shift})`,
    '',
    'past',
    '    |join(now)',
    "        .as('past', 'now')",
    `    |eval(lambda: ${change})`,
    "        .as('value')",
    '    |alert()',
    ...tellingLines(
      rule,
      `${rule.field} changed by {{ index .Fields "value" }}${unit} in ${rule.shift}`,
    ),
    ...levelLines(rule),
  ];
}

function deadmanLines(rule: Rule): readonly string[] {
  return [
    ...sourceLines(rule),
    `    |deadman(0.0, ${rule.silence})`,
    ...tellingLines(rule, `no ${rule.measurement} for ${rule.silence}`),
  ];
}
