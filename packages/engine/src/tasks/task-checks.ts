// Checks what would happen if a stored task were started now. Starts nothing.
import { InvalidRequest } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import type { NodeSpec } from '@tidemark/pipeline';
import { checkTexts } from '@tidemark/runtime';
import type { Reach } from './reach.ts';
import type { TaskRecord } from '../store/records.ts';
import { defineTask, varsOf } from './definition.ts';
import type { BuildEnvironment, Definition } from './definition.ts';
import { scriptHandlersOf } from './script-handlers.ts';
import { checkAt, checkStartOf, diagnosticsOf, spanOf } from './start-diagnostics.ts';

export type TaskChecksOptions = {
  readonly environment: () => BuildEnvironment;
  readonly alerts: AlertService;
  readonly reach: Reach;
  /** Refuses a node that names things which are not configured. */
  readonly checkNode: (node: NodeSpec) => void;
};

export class TaskChecks {
  readonly #options: TaskChecksOptions;

  constructor(options: TaskChecksOptions) {
    this.#options = options;
  }

  /** The definition with which a stored task would start now. */
  definitionOf(record: TaskRecord): Definition {
    return defineTask(
      { script: record.script, vars: varsOf(record), dbrps: [], storedDbrps: record.dbrps },
      this.#options.environment(),
    );
  }

  /** As `definitionOf`, including the checks that are only made at the start. */
  startableOf(record: TaskRecord): Definition {
    const definition = this.definitionOf(record);
    const diagnostics = definition.checkStart();
    const [problem] = diagnostics;
    if (problem !== undefined) throw new InvalidRequest(problem.message, { diagnostics });
    const { alerts, checkNode } = this.#options;
    const { script } = record;
    const { pipeline } = definition;
    for (const handler of scriptHandlersOf(pipeline)) {
      checkAt({ script, span: handler.span }, () => alerts.checkScriptHandlers([handler]));
    }
    for (const node of pipeline.nodes) {
      checkAt({ script, span: spanOf(node, ['cluster']) }, () => checkNode(node));
    }
    for (const node of pipeline.nodes) checkStartOf(script, node, () => checkTexts(node));
    return definition;
  }

  /** Why a task could not be started, as diagnostics about its script. */
  diagnosticsOf(error: unknown, record: TaskRecord): readonly Diagnostic[] {
    const { script } = record;
    return diagnosticsOf(error, { script, pipeline: () => this.definitionOf(record).pipeline });
  }

  /** Problems that would keep a task from starting now. */
  diagnostics(record: TaskRecord): readonly Diagnostic[] {
    try {
      this.startableOf(record);
      return [];
    } catch (error) {
      return this.diagnosticsOf(error, record);
    }
  }

  /**
   * Problems that let a task start but fail for every point, and services that it could not reach
   * now; none when it cannot start at all.
   */
  async warnings(record: TaskRecord): Promise<readonly Diagnostic[]> {
    try {
      const definition = this.definitionOf(record);
      if (definition.checkStart().length > 0) return [];
      const unreached = await this.#options.reach.unreached(record.script, definition);
      return [...definition.warnings(), ...unreached];
    } catch (error) {
      // Reported by `diagnostics`.
      if (error instanceof InvalidRequest) return [];
      throw error;
    }
  }
}
