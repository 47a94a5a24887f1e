// Prometheus text: metrics of the process, requests by endpoint, and the counters of the service
// from their table.
import { familiesOf, METRICS_TYPE, printMetrics } from '@tidemark/core';
import type { RequestMetrics } from '@tidemark/core';
import { countCpuFromStart } from '@tidemark/process';
import type * as prometheus from 'prom-client';
import type { Registry } from 'prom-client';

import { METRIC_TABLE } from '../stats/metric-table.ts';
import type { Statistics } from '../stats/statistics.ts';

/** Loaded with the first request for metrics: it takes a tenth of the time to start the service. */
type Client = typeof prometheus;

let processMetrics: Registry | undefined;

/** The default metrics measure the whole process, so there is one registry for it. */
function processRegistry(client: Client): Registry {
  if (processMetrics === undefined) {
    const registry = new client.Registry();
    client.collectDefaultMetrics({ register: registry });
    // CPU time counts from now on.
    const before = process.cpuUsage();
    countCpuFromStart(before, (name) => {
      const metric = registry.getSingleMetric(name);
      return metric instanceof client.Counter ? metric : undefined;
    });
    processMetrics = registry;
  }
  return processMetrics;
}

/** The text, and its content type. */
export async function metricsText(
  statistics: Statistics,
  requests: RequestMetrics,
): Promise<{ readonly type: string; readonly text: string }> {
  const client = await import('prom-client');
  const shared = await processRegistry(client).metrics();
  const families = [...requests.families(), ...familiesOf(await statistics.read(), METRIC_TABLE)];
  return { type: METRICS_TYPE, text: `${shared}\n${printMetrics(families)}` };
}
