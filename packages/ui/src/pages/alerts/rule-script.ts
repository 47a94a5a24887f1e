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

/** The contents of the form. Numbers and durations are texts, as typed. */
export type Rule = {
  readonly kind: RuleKind;
  readonly name: string;
  readonly database: string;
  readonly policy: string;
  readonly measurement: string;
  readonly field: string;
  /** Group-by tags: each group has its own event. */
  readonly groupBy: readonly string[];
  /** Only points with this tag; empty means all. */
  readonly whereTag: string;
  readonly whereValue: string;
  /** The aggregate of each window; `none` checks every point. */
  readonly function: (typeof FUNCTIONS)[number];
  readonly period: string;
  readonly every: string;
  readonly operator: (typeof OPERATORS)[number];
  /** '' if the level is not used. */
  readonly warn: string;
  readonly crit: string;
  /** Relative: the shift of the compared time, and the comparison. */
  readonly shift: string;
  readonly change: (typeof CHANGES)[number];
  /** Deadman: the maximum silence. */
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

/** A string literal of the script language. */
const text = (value: string): string => `'${value.replaceAll("'", String.raw`\'`)}'`;

/** A field or tag within a lambda. */
const reference = (name: string): string => `"${name.replaceAll('"', String.raw`\"`)}"`;

/** A float literal, the type of the value. */
const number = (value: string): string => formatFloat(Number(value));

const isNumber = (value: string): boolean => value.trim() !== '' && Number.isFinite(Number(value));

const isDuration = (value: string): boolean => /^[1-9]\d*(?:u|ms|s|m|h|d|w)$/.test(value);

export type RuleField = keyof Rule;

/** Fields that are missing or wrong; without any, the script of the rule is valid. */
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

/** A comparison with the past needs windows: points seldom have the same time of day. */
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

/** Properties of the alert common to all kinds. */
function alertLines({ name, topic }: Rule, saying: string): readonly string[] {
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
    ...alertLines(rule, `${rule.field} is {{ index .Fields "value" }}`),
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
    ...alertLines(
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
    ...alertLines(rule, `no ${rule.measurement} for ${rule.silence}`),
  ];
}
