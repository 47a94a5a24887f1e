// The text format of Prometheus exporters: `name{label="value",…} value [milliseconds]`. Source:
// the published description of the exposition format, version 0.0.4.

export type Sample = {
  readonly name: string;
  readonly labels: readonly (readonly [string, string])[];
  /** NaN and infinities as they are. */
  readonly value: number;
};

/** Samples of a page, and the numbers of invalid lines. Comments and empty lines are neither. */
export function parsePrometheusText(text: string): {
  readonly samples: readonly Sample[];
  readonly badLines: readonly number[];
} {
  const samples: Sample[] = [];
  const badLines: number[] = [];
  text.split('\n').forEach((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return;
    const sample = parseLine(trimmed);
    if (sample === undefined) badLines.push(i + 1);
    else samples.push(sample);
  });
  return { samples, badLines };
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*/;
const REST = /^\s+(\S+)(?:\s+(-?\d+))?$/;

function parseLine(line: string): Sample | undefined {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return undefined;
  const labels: (readonly [string, string])[] = [];
  let rest = line.slice(name.length).trimStart();
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    for (let label = LABEL.exec(rest); label !== null; label = LABEL.exec(rest)) {
      labels.push([label[1] ?? '', unescape(label[2] ?? '')]);
      rest = rest.slice(label[0].length);
      if (!rest.startsWith(',')) break;
      rest = rest.slice(1);
    }
    rest = rest.trimStart();
    if (!rest.startsWith('}')) return undefined;
    rest = rest.slice(1);
  }
  const match = REST.exec(rest.startsWith(' ') || rest.startsWith('\t') ? rest : ` ${rest}`);
  const value = match === null ? undefined : parseValue(match[1] ?? '');
  return value === undefined ? undefined : { name, labels, value };
}

function parseValue(text: string): number | undefined {
  switch (text.toLowerCase()) {
    case 'nan':
      return Number.NaN;
    case '+inf':
    case 'inf':
      return Number.POSITIVE_INFINITY;
    case '-inf':
      return Number.NEGATIVE_INFINITY;
    default:
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
  }
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_all, next: string) => (next === 'n' ? '\n' : next));
}
