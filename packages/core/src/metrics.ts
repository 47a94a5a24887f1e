// Metrics as text for Prometheus (exposition format 0.0.4): families of samples, histograms, and
// tables that describe the counters of a service.

/** One value of a family. */
export type MetricSample = {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | bigint;
};

/** Samples with one name. A counter's name ends in `_total`, the name of an amount in its unit. */
export type MetricFamily = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** `suffix` is appended to the name; histograms have `_bucket`, `_sum` and `_count`. */
  readonly samples: readonly (MetricSample & { readonly suffix?: string })[];
};

/** Content type of what `printMetrics` returns. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Families as text; those without a sample are left out. */
export function printMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix = '', labels, value }) => `${name}${suffix}${printLabels(labels)} ${value}`,
      );
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}

function printLabels(labels: Readonly<Record<string, string>>): string {
  const shown = Object.entries(labels).filter(([, value]) => value !== '');
  if (shown.length === 0) return '';
  return `{${shown.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

/** Counters of one part of a service, under the names that the service uses for them. */
export type CounterModule = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number | bigint | string>>;
};

/** How one counter of a module is exposed as a metric. */
export type MetricRow = {
  readonly module: string;
  readonly value: string;
  /** Without the prefix of the service. Rows with the same name form one family. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** The counter is divided by this to get the unit in the metric's name. */
  readonly divisor?: number | undefined;
  /** Labels of this row, beside the tags of the module. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Samples without this tag are left out: they are totals of those that have it. */
  readonly needs?: string | undefined;
};

/** Rows of one module and type. */
export function metricRows(
  type: MetricRow['type'],
  module: string,
  rows: readonly (readonly [value: string, name: string, help: string, divisor?: number])[],
): readonly MetricRow[] {
  return rows.map(([value, name, help, divisor]) => ({ module, value, name, help, type, divisor }));
}

/** How the counters of a service are exposed as metrics. */
export type MetricTable = {
  readonly prefix: string;
  readonly rows: readonly MetricRow[];
  /** Counters that are exposed elsewhere: `module.value`, or `module` for all of its counters. */
  readonly omitted: ReadonlySet<string>;
};

/**
 * Counters as families, in the order of the table. Counters without a row in the table come last,
 * as gauges.
 */
export function familiesOf(
  modules: readonly CounterModule[],
  { prefix, rows, omitted }: MetricTable,
): readonly MetricFamily[] {
  const families = new Map<string, MetricFamily & { samples: MetricSample[] }>();
  const known = new Map<string, MetricRow>();
  for (const row of rows) {
    known.set(`${row.module}.${row.value}`, row);
    const name = `${prefix}_${row.name}`;
    families.set(name, { name, type: row.type, help: row.help, samples: [] });
  }
  for (const { name: module, tags, values } of modules) {
    if (omitted.has(module)) continue;
    for (const [value, count] of Object.entries(values)) {
      const key = `${module}.${value}`;
      if (typeof count === 'string' || omitted.has(key)) continue;
      const row = known.get(key);
      if (row?.needs !== undefined && tags[row.needs] === undefined) continue;
      const name = `${prefix}_${row?.name ?? metricName(key)}`;
      const help = `${value} of ${module}.`;
      const family = families.get(name) ?? { name, type: 'gauge', help, samples: [] };
      families.set(name, family);
      family.samples.push({
        labels: { ...labelsOf(tags), ...row?.labels },
        value: row?.divisor === undefined ? count : Number(count) / row.divisor,
      });
    }
  }
  return [...families.values()];
}

function labelsOf(tags: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([tag, value]) => [metricName(tag), value]));
}

/** `queryReq.durationNs` → `query_req_duration_ns`. */
function metricName(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9_]/g, '_')
    .toLowerCase();
}

/** Upper bounds in seconds: from a write in memory to a query that is about to be given up. */
const BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

/** A histogram of durations. */
export class LatencyHistogram {
  readonly #name: string;
  readonly #help: string;
  /** Count per bucket; the last one is for durations above all bounds. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  /** `name` is the full name of the metric, with the service's prefix and `_seconds`. */
  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(seconds: number): void {
    let i = 0;
    while (i < BOUNDS.length && seconds > (BOUNDS[i] ?? 0)) i++;
    this.#counts[i] = (this.#counts[i] ?? 0) + 1;
    this.#sum += seconds;
  }

  family(): MetricFamily {
    let count = 0;
    const buckets = [...this.#counts].map((own, i) => {
      count += own;
      const le = BOUNDS[i] === undefined ? '+Inf' : String(BOUNDS[i]);
      return { suffix: '_bucket', labels: { le }, value: count };
    });
    const samples = [
      ...buckets,
      { suffix: '_sum', labels: {}, value: this.#sum },
      { suffix: '_count', labels: {}, value: count },
    ];
    return { name: this.#name, type: 'histogram', help: this.#help, samples };
  }
}

/** Counts HTTP requests by endpoint, and measures how long writes and queries take. */
export class RequestMetrics {
  readonly writes: LatencyHistogram;
  readonly queries: LatencyHistogram;
  readonly #prefix: string;
  readonly #counts = new Map<string, MetricSample & { value: number }>();

  /** `help.queries` is the help text of the histogram of queries. */
  constructor(prefix: string, help: { readonly queries: string }) {
    this.#prefix = prefix;
    this.writes = new LatencyHistogram(
      `${prefix}_write_duration_seconds`,
      'Time from the first byte of a write to its answer.',
    );
    this.queries = new LatencyHistogram(`${prefix}_query_duration_seconds`, help.queries);
  }

  /**
   * Counts an answered request. `endpoint` is a route's pattern, never the path that a client sent:
   * otherwise clients could create any number of labels.
   */
  count(request: {
    readonly method: string;
    readonly endpoint: string;
    readonly status: number;
  }): void {
    const { method, endpoint } = request;
    const status = String(request.status);
    const key = `${method} ${endpoint} ${status}`;
    const counted = this.#counts.get(key);
    if (counted === undefined) {
      this.#counts.set(key, { labels: { method, endpoint, status }, value: 1 });
    } else counted.value++;
  }

  families(): readonly MetricFamily[] {
    return [
      {
        name: `${this.#prefix}_http_requests_total`,
        type: 'counter',
        help: 'Requests that were answered, by endpoint, method and status.',
        samples: [...this.#counts.values()],
      },
      this.writes.family(),
      this.queries.family(),
    ];
  }
}
