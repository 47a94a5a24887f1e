// Services that a starting task cannot reach at present: services of handlers that are not
// configured, unknown clusters, missing databases. These are only warnings, because all of it may
// become available later.
import { InvalidRequest, messageOf } from '@tidemark/core';
import type { Clock, Diagnostic } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import { quoteIdentifier } from '@tidemark/influxql';
import { effectsOf } from '@tidemark/pipeline';
import type { ClusterNeed, NodeSpec } from '@tidemark/pipeline';
import type { Clusters } from '../database/clusters.ts';
import type { Definition } from './definition.ts';
import { diagnosticAt, spanOf } from './start-diagnostics.ts';
import { scriptHandlersOf } from './script-handlers.ts';

export type ReachOptions = {
  readonly alerts: Pick<AlertService, 'undeliverable'>;
  readonly clusters: Clusters;
  readonly clock: Clock;
};

const CODE = 'TICK_UNREACHED';

/** A database that does not answer within this time counts as unreachable. */
const ANSWER_MS = 2000;

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/**
 * How long the names of a cluster's databases are cached: a list of tasks needs them for each of
 * them.
 */
const REMEMBERED_MS = 5000;

/** Names of a cluster's databases, or why they are unknown. */
type Databases = { readonly names: ReadonlySet<string> } | { readonly problem: string };

/** A node's need of a cluster. */
type Need = ClusterNeed & { readonly node: NodeSpec; readonly databases: readonly string[] };

export class Reach {
  readonly #options: ReachOptions;
  readonly #asked = new Map<
    string,
    { readonly untilMs: number; readonly databases: Promise<Databases> }
  >();

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** Diagnostics about a definition that starts, in the order of its nodes, handlers first. */
  async unreached(script: string, definition: Definition): Promise<readonly Diagnostic[]> {
    const found = await Promise.all(needsOf(definition).map((need) => this.#unmet(script, need)));
    return [...this.#undeliverable(script, definition), ...found.flat()];
  }

  #undeliverable(script: string, { pipeline }: Definition): readonly Diagnostic[] {
    return scriptHandlersOf(pipeline).flatMap((handler) => {
      try {
        const reason = this.#options.alerts.undeliverable(handler);
        return reason === undefined
          ? []
          : [diagnosticAt(script, handler.span, { ...reason, code: CODE })];
      } catch (error) {
        // An invalid handler keeps the task from starting, which is reported there.
        if (error instanceof InvalidRequest) return [];
        throw error;
      }
    });
  }

  async #unmet(script: string, need: Need): Promise<readonly Diagnostic[]> {
    const { node, property, cluster, databases, urgency } = need;
    const diagnostic = (message: string, hint?: string): Diagnostic =>
      diagnosticAt(script, spanOf(node, [property]), {
        message: `${node.name}: ${message}`,
        hint,
        code: CODE,
      });
    const isOptional = urgency === 'optional';
    // Writes to the engine itself need no cluster.
    if (isOptional && this.#options.clusters.elements.length === 0) return [];
    const known = await this.#databases(cluster);
    if ('problem' in known) return isOptional ? [] : [diagnostic(known.problem)];
    return databases
      .filter((name) => !known.names.has(name))
      .map((name) =>
        isOptional
          ? diagnostic(
              `database ${JSON.stringify(name)} does not exist`,
              'this task receives only points written to the engine itself',
            )
          : diagnostic(
              `database ${JSON.stringify(name)} does not exist`,
              `CREATE DATABASE ${quoteIdentifier(name)}`,
            ),
      );
  }

  #databases(cluster: string): Promise<Databases> {
    const nowMs = this.#options.clock.monotonicMs();
    const before = this.#asked.get(cluster);
    if (before !== undefined && nowMs < before.untilMs) return before.databases;
    // Few: as many as there are clusters, and mistaken names in scripts.
    if (this.#asked.size > 100) this.#asked.clear();
    const databases = this.#ask(cluster);
    this.#asked.set(cluster, { untilMs: nowMs + REMEMBERED_MS, databases });
    return databases;
  }

  async #ask(cluster: string): Promise<Databases> {
    const { clock, clusters } = this.#options;
    const deadline = new AbortController();
    const done = new AbortController();
    clock.sleep(ANSWER_MS, done.signal).then(
      () => deadline.abort(new Error(`no answer within ${ANSWER_MS} ms`)),
      // Answered in time.
      () => undefined,
    );
    try {
      const series = await clusters.exact(cluster, 'SHOW DATABASES', {
        signal: deadline.signal,
        bytesMax: ANSWER_BYTES_MAX,
      });
      const rows = series.flatMap(({ values }) => values);
      return { names: new Set(rows.map((row) => String(row[0]))) };
    } catch (error) {
      // Any error is the reason to report.
      return { problem: messageOf(error) };
    } finally {
      done.abort();
    }
  }
}

function needsOf({ pipeline, dbrps }: Definition): readonly Need[] {
  const own = [...new Set(dbrps.map(({ db }) => db))];
  return pipeline.nodes.flatMap((node): readonly Need[] => {
    const need = effectsOf(node).needsCluster;
    return need === undefined ? [] : [{ ...need, node, databases: need.databases ?? own }];
  });
}
