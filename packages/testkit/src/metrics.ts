// Pages of metrics: the value of a sample, and violations of Prometheus's conventions.

const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$/;

/** A sentence for each violation by metrics with this prefix; others are not checked. */
export function metricProblems(text: string, prefix: string): readonly string[] {
  const problems: string[] = [];
  const helps = new Map<string, string>();
  const types = new Map<string, string>();
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (!name.startsWith(prefix) && !line.startsWith(prefix)) continue;
    if (word === 'HELP') helps.set(name, rest);
    else if (word === 'TYPE') {
      if (types.has(name)) problems.push(`${name} has two types`);
      types.set(name, rest);
    } else {
      const [, sample = '', labels = ''] = SAMPLE.exec(line) ?? [];
      const family = types.has(sample) ? sample : sample.replace(/_(?:bucket|sum|count)$/, '');
      if (!types.has(family)) problems.push(`${line} has no type before it`);
      if (seen.has(sample + labels)) problems.push(`${sample}${labels} comes twice`);
      seen.add(sample + labels);
    }
  }
  for (const [name, type] of types) {
    const help = helps.get(name) ?? '';
    // Metrics that are missing in a table have their own name as help.
    if (help === '' || /^\w+ of \w+\.$/.test(help)) problems.push(`${name} has no help: ${help}`);
    if (!['counter', 'gauge', 'histogram'].includes(type)) problems.push(`${name} is ${type}`);
    if ((type === 'counter') !== name.endsWith('_total')) problems.push(`${name} is a ${type}`);
  }
  if (types.size === 0) problems.push(`there are no metrics that begin with ${prefix}`);
  return problems;
}

/**
 * The value of one sample, named as on the page: `name{label="value"}`; `NaN` when it is missing.
 */
export function metricValue(text: string, sample: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return Number(line?.slice(sample.length));
}
