// Configuration of a local cluster's processes: loopback only, small caches, so that several fit
// one machine.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ClusterFile, ClusterNode } from './cluster-file.ts';

/** The name of the cluster in the configuration of its processes. */
export const CLUSTER_NAME = 'tidemark';

/** The name of the ZooKeeper process. */
export const ZOOKEEPER = 'zookeeper';

const HOST = '127.0.0.1';

/** The configuration file of a process, in the directory with its data. */
export function configurationOf(directory: string, name: string): string {
  return join(directory, name, name === ZOOKEEPER ? 'zoo.cfg' : 'config.xml');
}

/** Writes the configuration of every process. */
export function writeConfiguration(directory: string, file: ClusterFile): void {
  const zookeeper = join(directory, ZOOKEEPER);
  mkdirSync(join(zookeeper, 'data'), { recursive: true });
  writeFileSync(configurationOf(directory, ZOOKEEPER), zooCfg(zookeeper, file.zookeeper.port));
  for (const node of file.nodes) {
    const home = join(directory, node.name);
    mkdirSync(join(home, 'data'), { recursive: true });
    writeFileSync(configurationOf(directory, node.name), configXml(home, node, file));
    writeFileSync(join(home, 'users.xml'), USERS);
  }
}

function zooCfg(home: string, port: number): string {
  const lines = [
    'tickTime=1000',
    `dataDir=${join(home, 'data')}`,
    `clientPort=${port}`,
    `clientPortAddress=${HOST}`,
    'maxClientCnxns=0',
    'admin.enableServer=false',
    '4lw.commands.whitelist=srvr',
    'autopurge.snapRetainCount=3',
    'autopurge.purgeInterval=1',
  ];
  return `${lines.join('\n')}\n`;
}

const USERS = `<yandex>
  <profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
  <users><default>
    <password></password><networks><ip>${HOST}</ip></networks>
    <profile>default</profile><quota>default</quota>
  </default></users>
  <quotas><default></default></quotas>
</yandex>
`;

function configXml(home: string, node: ClusterNode, { nodes, zookeeper }: ClusterFile): string {
  return `<yandex>
  <logger>
    <level>warning</level><log>${xml(join(home, 'server.log'))}</log>
    <errorlog>${xml(join(home, 'error.log'))}</errorlog><size>10M</size><count>2</count>
  </logger>
  <listen_host>${HOST}</listen_host>
  <http_port>${node.httpPort}</http_port>
  <tcp_port>${node.tcpPort}</tcp_port>
  <interserver_http_port>${node.interserverPort}</interserver_http_port>
  <interserver_http_host>${HOST}</interserver_http_host>
  <path>${xml(join(home, 'data'))}/</path>
  <tmp_path>${xml(join(home, 'tmp'))}/</tmp_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <max_connections>512</max_connections>
  <keep_alive_timeout>3</keep_alive_timeout>
  <max_concurrent_queries>100</max_concurrent_queries>
  <mark_cache_size>33554432</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <zookeeper>
    <node><host>${HOST}</host><port>${zookeeper.port}</port></node>
    <session_timeout_ms>10000</session_timeout_ms>
  </zookeeper>
  <macros>
    <cluster>${CLUSTER_NAME}</cluster><shard>${node.shard}</shard><replica>${node.replica}</replica>
    <home>${xml(home)}</home>
  </macros>
  <remote_servers><${CLUSTER_NAME}>${remoteServers(nodes)}
  </${CLUSTER_NAME}></remote_servers>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
</yandex>
`;
}

function remoteServers(nodes: readonly ClusterNode[]): string {
  const shards = [...new Set(nodes.map(({ shard }) => shard))];
  return shards
    .map((shard) => {
      const replicas = nodes
        .filter((node) => node.shard === shard)
        .map(
          ({ tcpPort }) => `\n      <replica><host>${HOST}</host><port>${tcpPort}</port></replica>`,
        );
      return `
    <shard>
      <internal_replication>true</internal_replication>${replicas.join('')}
    </shard>`;
    })
    .join('');
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
