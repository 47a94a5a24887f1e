// Prometheus text: metrics of the process, and every counter of the service as `tidemark_tsdb_<module>_<name>`.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

import type { Statistics, StatisticsModule } from '../stats/statistics.ts';

let processMetrics: Registry | undefined;

/** The default metrics measure the whole process, so there is one registry for it. */
function processRegistry(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
  }
  return processMetrics;
}

export async function metricsText(
  statistics: Statistics,
): Promise<{ readonly type: string; readonly text: string }> {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  for (const module of await statistics.read()) addModule(module, registry, gauges);
  const own = await registry.metrics();
  const shared = await processRegistry().metrics();
  return { type: registry.contentType, text: `${shared}\n${own}` };
}

function addModule(module: StatisticsModule, registry: Registry, gauges: Map<string, Gauge>): void {
  const labels = Object.fromEntries(
    Object.entries(module.tags).map(([key, value]) => [metricName(key), value]),
  );
  for (const [field, value] of Object.entries(module.values)) {
    const name = `tidemark_tsdb_${metricName(module.name)}_${metricName(field)}`;
    let gauge = gauges.get(name);
    if (gauge === undefined) {
      gauge = new Gauge({
        name,
        help: `${field} of module ${module.name}`,
        labelNames: Object.keys(labels),
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
