// A node inside its task: counters, edges, and the context of the node.
import type { EdgeType, NodeSpec } from '@tidemark/pipeline';
import type { Group } from './data/group.ts';
import type { Point } from './data/point.ts';
import { heldBytesOf, heldRowBytes, pointText } from './data/point.ts';
import type { Series } from './data/series.ts';
import type { Edge } from './edge.ts';
import { ExecutionTime } from './edge.ts';
import { GROUP_BYTES, LOG_BURST, LOG_INTERVAL_NANOS } from './limits.ts';
import type { NodeContext, Receiver, RunningNode, TaskContext } from './node.ts';
import { NodeFailed } from './node.ts';
import type { LogLevel } from './services.ts';
import type { NodeStats } from './running-task.ts';

export class NodeHandle implements NodeContext {
  readonly spec: NodeSpec;
  readonly task: TaskContext;
  readonly out: Receiver;
  readonly parentNames: readonly string[];
  readonly time = new ExecutionTime();
  readonly inputs: Edge[] = [];
  readonly outputs: readonly Edge[];
  /** The edge that a tap watches; also exists for nodes without children. */
  readonly tapEdge: Edge;
  explain: NodeContext['explain'];
  readonly #fieldsOfChildren: readonly string[] | undefined;
  readonly #explainers = new Set<NonNullable<NodeContext['explain']>>();
  #errorCount = 0;
  #heldBytes = 0;
  #logStart = 0n;
  #logged = 0;
  #suppressed = 0;
  #node: RunningNode | undefined;

  constructor(
    spec: NodeSpec,
    task: TaskContext,
    output: {
      readonly out: Receiver;
      readonly edges: readonly Edge[];
      readonly tapEdge: Edge;
      readonly parentNames: readonly string[];
      readonly fieldsRead: readonly string[] | undefined;
    },
  ) {
    this.spec = spec;
    this.task = task;
    this.out = output.out;
    this.outputs = output.edges;
    this.tapEdge = output.tapEdge;
    this.parentNames = output.parentNames;
    this.#fieldsOfChildren = output.fieldsRead;
  }

  get fieldsWanted(): readonly string[] | undefined {
    return this.tapEdge.isObserved ? undefined : this.#fieldsOfChildren;
  }

  /** Adds a listener for the node's decisions; returns a function that removes it. */
  addExplainer(explainer: NonNullable<NodeContext['explain']>): () => void {
    this.#explainers.add(explainer);
    this.#updateExplain();
    return () => {
      this.#explainers.delete(explainer);
      this.#updateExplain();
    };
  }

  // `undefined` without listeners: nodes explain nothing then.
  #updateExplain(): void {
    this.explain =
      this.#explainers.size === 0
        ? undefined
        : (why) => {
            for (const explainer of this.#explainers) explainer(why);
          };
  }

  get options(): unknown {
    return this.spec.options;
  }

  get name(): string {
    return this.spec.name;
  }

  get wants(): EdgeType {
    return this.spec.wants;
  }

  get node(): RunningNode | undefined {
    return this.#node;
  }

  set node(node: RunningNode | undefined) {
    this.#node = node;
  }

  fail(message: string, cause?: string, point?: Point): void {
    this.#errorCount++;
    if (this.spec.isQuiet) return;
    const now = this.task.timers.now();
    if (now - this.#logStart >= LOG_INTERVAL_NANOS) {
      this.#logStart = now;
      this.#logged = 0;
    }
    if (this.#logged >= LOG_BURST) {
      this.#suppressed++;
      return;
    }
    this.#logged++;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.log('error', message, {
      ...(cause === undefined ? {} : { err: cause }),
      ...(point === undefined ? {} : { point: pointText(point) }),
      ...(suppressed === 0 ? {} : { suppressed }),
    });
  }

  abort(message: string): never {
    this.#errorCount++;
    throw new NodeFailed(this.name, message);
  }

  log(level: LogLevel, message: string, context?: Readonly<Record<string, unknown>>): void {
    this.task.services.log.log(level, this.name, message, context);
  }

  hold(point: Point): boolean {
    if (!this.task.hold(point)) return false;
    this.#heldBytes += heldBytesOf(point);
    return true;
  }

  release(point: Point): void {
    this.#heldBytes -= heldBytesOf(point);
    this.task.release(point);
  }

  holdRow(fieldCount: number): boolean {
    if (!this.task.holdRow(fieldCount)) return false;
    this.#heldBytes += heldRowBytes(fieldCount);
    return true;
  }

  releaseRows(count: number, fieldCount: number): void {
    this.#heldBytes -= count * heldRowBytes(fieldCount);
    this.task.releaseRows(count, fieldCount);
  }

  groupOf(series: Series, dimensions: Group['dimensions']): Group | undefined {
    const group = this.task.groups.of(series, dimensions);
    if (group === undefined) {
      this.fail('too many groups', `task has ${this.task.limits.groupCountMax} groups`);
    }
    return group;
  }

  stats(): NodeStats {
    let collected = 0;
    for (const edge of this.inputs) collected += edge.count;
    let emitted = 0;
    for (const edge of this.outputs) emitted += edge.count;
    const groupCount = this.#node?.groupCount ?? 0;
    return {
      collected,
      emitted,
      errors: this.#errorCount,
      avg_exec_time_ns: this.time.averageNanos,
      working_cardinality: groupCount,
      memory_bytes: this.#heldBytes + groupCount * GROUP_BYTES,
      ...this.#node?.capabilities.counters?.stats(),
    };
  }
}
