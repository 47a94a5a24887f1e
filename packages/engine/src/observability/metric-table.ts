// The engine's statistics as metrics: conventional names, units and descriptions.
import { budgetRows, metricRows } from '@tidemark/core';
import type { MetricRow, MetricTable } from '@tidemark/core';
import { LISTENER_METRICS } from '@tidemark/listeners';

export const METRIC_PREFIX = 'tidemark_engine';

const NODES: readonly MetricRow[] = [
  ...metricRows('counter', 'nodes', [
    ['collected', 'node_collected_total', 'Points or batches that came to a node.'],
    ['emitted', 'node_emitted_total', 'Points or batches that left a node.'],
    [
      'errors',
      'node_errors_total',
      'Failures of a node: lambdas that could not be evaluated, bounds that were reached.',
    ],
    [
      'points_written',
      'node_points_written_total',
      'Points that a node wrote to a database or back into the engine.',
    ],
    ['write_errors', 'node_write_errors_total', 'Writes of a node that failed.'],
    ['batches_queried', 'node_batches_queried_total', 'Batches that the answers to a query had.'],
    ['points_queried', 'node_points_queried_total', 'Points that the answers to a query had.'],
    [
      'fields_defaulted',
      'node_fields_defaulted_total',
      'Fields that were missing and got a default.',
    ],
    ['tags_defaulted', 'node_tags_defaulted_total', 'Tags that were missing and got a default.'],
    ['fields_deleted', 'node_fields_deleted_total', 'Fields that were removed.'],
    ['tags_deleted', 'node_tags_deleted_total', 'Tags that were removed.'],
    ['increase_events', 'node_scale_up_total', 'Times that replicas were added.'],
    ['decrease_events', 'node_scale_down_total', 'Number of times that replicas were removed.'],
    [
      'cooldown_drops',
      'node_scale_skipped_total',
      'Changes of replicas that came too soon after the one before.',
    ],
    ['alerts_triggered', 'node_alerts_total', 'Events of an alert node.'],
    ['alerts_inhibited', 'node_alerts_inhibited_total', 'Events that another alert held back.'],
  ]),
  ...['ok', 'info', 'warn', 'crit'].map((level): MetricRow => ({
    module: 'nodes',
    value: `${level}s_triggered`,
    name: 'node_alerts_by_level_total',
    help: 'Events of an alert node by their level.',
    type: 'counter',
    labels: { level },
  })),
  ...metricRows('gauge', 'nodes', [
    ['working_cardinality', 'node_groups', 'Groups of a node.'],
    ['memory_bytes', 'node_memory_bytes', 'Approximate memory of the state of a node.'],
    [
      'avg_exec_time_ns',
      'node_execution_seconds',
      'Time that a node takes for one point, sampled.',
      1e9,
    ],
  ]),
  ...metricRows('counter', 'edges', [
    [
      'collected',
      'edge_collected_total',
      'Points or batches that came to an edge between two nodes.',
    ],
    ['emitted', 'edge_emitted_total', 'Points or batches that left an edge between two nodes.'],
  ]),
];

const DELIVERIES = ['delivered', 'repeated', 'failed', 'refused'].map((outcome): MetricRow => ({
  module: 'handlers',
  value: outcome,
  name: 'alert_deliveries_total',
  help: 'Events of a handler by outcome: delivered, to be repeated, failed for good (dead letters), refused because too many wait.',
  type: 'counter',
  labels: { outcome },
}));

const SERVICE: readonly MetricRow[] = [
  ...metricRows('counter', 'ingress', [
    [
      'points_received',
      'points_received_total',
      'Points that came to the engine, by database, policy and measurement.',
    ],
  ]),
  ...metricRows('counter', 'http', [
    ['auth_fail', 'http_auth_failures_total', 'Requests with missing or wrong credentials.'],
    ['write_req_bytes', 'http_write_bytes_total', 'Bytes of the bodies of writes, decompressed.'],
  ]),
  ...[
    { value: 'points_written_ok', outcome: 'accepted' },
    { value: 'points_written_fail', outcome: 'failed' },
  ].map(({ value, outcome }): MetricRow => ({
    module: 'http',
    value,
    name: 'points_written_total',
    help: 'Points of writes, by outcome; a bad line fails all points of a body.',
    type: 'counter',
    labels: { outcome },
  })),
  ...metricRows('gauge', 'tidemark', [
    ['num_tasks', 'tasks', 'Tasks that are defined.'],
    ['num_enabled_tasks', 'tasks_running', 'Tasks that run.'],
    ['num_subscriptions', 'subscriptions', 'Subscriptions at databases.'],
  ]),
  ...metricRows('counter', 'topics', [['collected', 'topic_events_total', 'Events of a topic.']]),
  ...DELIVERIES,
  ...metricRows('gauge', 'handlers', [
    ['waiting', 'alert_deliveries_waiting', 'Events that wait for a handler.'],
  ]),
  ...metricRows('gauge', 'alert', [
    ['dead_letters', 'dead_letters', 'Undeliverable events that are kept.'],
  ]),
  ...metricRows('gauge', 'cluster', [
    ['alive', 'cluster_members', 'Instances of the cluster that are alive.'],
    ['gone', 'cluster_members_gone', 'Instances that were not heard of within their lease.'],
  ]),
  ...metricRows('gauge', 'cluster_member', [
    ['leads', 'cluster_member_leads', 'Whether an instance leads.'],
    ['tasks', 'cluster_member_tasks', 'Tasks that an instance runs.'],
    ['points', 'cluster_member_points_per_second', 'Points that its tasks are given, lately.'],
    ['held_bytes', 'cluster_member_held_bytes', 'Approximate memory of its tasks.'],
    ['copyLag', 'cluster_copy_lag_records', 'Records of the shared log missing in a copy.'],
    [
      'taskLag',
      'cluster_task_lag_writes',
      'Writes that the slowest task of an instance has not been given.',
    ],
  ]),
  ...metricRows('gauge', 'load', [
    ['errors', 'load_errors', 'Files of the load directory that cannot be used.'],
  ]),
  ...metricRows('counter', 'scraper', [
    ['scrapes', 'scrapes_total', 'Times that a target was asked.'],
    ['failed', 'scrape_failures_total', 'Times that a target did not answer as it should.'],
    ['samples', 'scrape_samples_total', 'Samples that targets answered.'],
    ['bad_lines', 'scrape_bad_lines_total', 'Lines of answers that could not be read.'],
    ['dropped', 'scrape_dropped_total', 'Samples that tasks could not be given.'],
  ]),
];

export const METRIC_TABLE: MetricTable = {
  prefix: METRIC_PREFIX,
  rows: [...NODES, ...SERVICE, ...LISTENER_METRICS, ...budgetRows('body', 'snake')],
  omitted: new Set([
    // Counted by endpoint and status.
    'http.req',
    'http.ping_req',
    'http.write_req',
    // Included in the metrics of the process.
    'runtime',
  ]),
};
