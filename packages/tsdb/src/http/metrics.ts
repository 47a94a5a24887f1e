// Prometheus text: metrics of the process, and every counter of the service as `tidemark_tsdb_<module>_<name>`.
import { countCpuFromStart } from '@tidemark/core';
import type * as prometheus from 'prom-client';
import type { Gauge, Registry } from 'prom-client';

import type { Statistics, StatisticsModule } from '../stats/statistics.ts';

/** Loaded when somebody asks for metrics: it is a tenth of what starting the service takes. */
type Client = typeof prometheus;

let processMetrics: Registry | undefined;

/** The default metrics measure the whole process, so there is one registry for it. */
function processRegistry(client: Client): Registry {
  if (processMetrics === undefined) {
    const registry = new client.Registry();
    const before = process.cpuUsage();
    client.collectDefaultMetrics({ register: registry });
    countCpuFromStart(before, (name) => {
      const metric = registry.getSingleMetric(name);
      return metric instanceof client.Counter ? metric : undefined;
    });
    processMetrics = registry;
  }
  return processMetrics;
}

export async function metricsText(
  statistics: Statistics,
): Promise<{ readonly type: string; readonly text: string }> {
  const client = await import('prom-client');
  const registry = new client.Registry();
  const gauges = new Map<string, Gauge>();
  const modules = await statistics.read();
  const labels = labelsByModule(modules);
  for (const module of modules) {
    const labelNames = labels.get(module.name) ?? new Set();
    addModule(module, { client, registry, gauges, labelNames });
  }
  const own = await registry.metrics();
  const shared = await processRegistry(client).metrics();
  return { type: registry.contentType, text: `${shared}\n${own}` };
}

/** All label names of a module: its instances need not have the same tags, but a metric has one set of labels. */
function labelsByModule(
  modules: readonly StatisticsModule[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const labels = new Map<string, Set<string>>();
  for (const { name, tags } of modules) {
    const own = labels.get(name) ?? new Set();
    for (const tag of Object.keys(tags)) own.add(metricName(tag));
    labels.set(name, own);
  }
  return labels;
}

type Target = {
  readonly client: Client;
  readonly registry: Registry;
  readonly gauges: Map<string, Gauge>;
  readonly labelNames: ReadonlySet<string>;
};

function addModule(
  module: StatisticsModule,
  { client, registry, gauges, labelNames }: Target,
): void {
  const labels = Object.fromEntries(
    Object.entries(module.tags).map(([key, value]) => [metricName(key), value]),
  );
  for (const [field, value] of Object.entries(module.values)) {
    const name = `tidemark_tsdb_${metricName(module.name)}_${metricName(field)}`;
    let gauge = gauges.get(name);
    if (gauge === undefined) {
      gauge = new client.Gauge({
        name,
        help: `${field} of module ${module.name}`,
        labelNames: [...labelNames],
        registers: [registry],
      });
      gauges.set(name, gauge);
    }
    gauge.set(labels, value);
  }
}

/** `queryReqDurationNs` → `query_req_duration_ns`. */
function metricName(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9_]/g, '_')
    .toLowerCase();
}
