// Public face of @tidemark/clickhouse: storage on a ClickHouse cluster.
export { clusterStatus, startCluster, stopCluster } from './local-cluster/local-cluster.ts';
export type { ClusterStatus, NodeStatus } from './local-cluster/local-cluster.ts';
export { openClickHouse } from './open-clickhouse.ts';
export type { ClickHouseOptions, ClickHouseStorage } from './open-clickhouse.ts';
export type { SharedText } from './shared/shared-text.ts';
