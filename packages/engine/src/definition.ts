// From what a client defines to a pipeline: the checks of scripts, vars and database pairs that tasks, templates and
// replays share.
import { InvalidRequest } from '@tidemark/core';
import { buildPipeline, definitionErrorText, parseVars } from '@tidemark/pipeline';
import type { BuildResult, DeadmanConfig, EdgeType, Pipeline, Vars } from '@tidemark/pipeline';
import type { UdfRegistry } from '@tidemark/pipeline';
import { formatScript } from '@tidemark/tickscript';
import type { SyntaxDiagnostic } from '@tidemark/tickscript';
import type { Dbrp } from './records.ts';

/** What the configuration adds to every script; what is left out has its default. */
export type BuildEnvironment = {
  readonly udfs?: UdfRegistry | undefined;
  readonly deadman?: DeadmanConfig | undefined;
  /** Refuses a pipeline that reaches programs or files it must not. */
  readonly checkAccess?: ((pipeline: Pipeline) => void) | undefined;
};

export type Definition = {
  readonly type: EdgeType;
  readonly dbrps: readonly Dbrp[];
  readonly pipeline: Pipeline;
  /** What keeps the task from starting; the first message is the recorded text. */
  readonly checkStart: () => readonly SyntaxDiagnostic[];
  /** What lets the task start but fails for every point. */
  readonly warnings: () => readonly SyntaxDiagnostic[];
};

export type DefinitionInput = {
  readonly script: string;
  readonly vars: Vars;
  /** What the client gives now. */
  readonly dbrps: readonly Dbrp[];
  /** What was stored before, used when neither client nor script names any. */
  readonly storedDbrps?: readonly Dbrp[] | undefined;
};

/** Checks a task's script with its vars and database pairs. Throws `InvalidRequest` as the API answers it. */
export function defineTask(input: DefinitionInput, environment: BuildEnvironment): Definition {
  if (input.script === '') throw new InvalidRequest('must provide TICKscript');
  const built = buildPipeline(input.script, { vars: input.vars, ...environment });
  const { pipeline, type } = requirePipeline(built);
  environment.checkAccess?.(pipeline);
  const implied = built.dbrps.map(({ database, retentionPolicy }) => ({
    db: database,
    rp: retentionPolicy,
  }));
  if (implied.length > 0 && input.dbrps.length > 0) {
    throw new InvalidRequest('cannot specify dbrp in both implicitly and explicitly');
  }
  const dbrps = [input.dbrps, implied, input.storedDbrps ?? []].find((list) => list.length > 0);
  if (dbrps === undefined) throw new InvalidRequest('must specify dbrp');
  const context = {
    dbrps: dbrps.map(({ db, rp }) => ({ database: db, retentionPolicy: rp })),
  };
  return {
    type,
    dbrps,
    pipeline,
    checkStart: () => built.checkStart?.(context) ?? [],
    warnings: () => built.warnings?.() ?? [],
  };
}

/** Reads the vars of a request. Throws `InvalidRequest` in the recorded words. */
export function readVars(json: unknown): Vars {
  const { vars, error } = parseVars(json);
  if (error !== undefined) throw new InvalidRequest(error);
  return vars;
}

/** Refuses a type that is not what the script makes. */
export function checkType(given: EdgeType | undefined, made: EdgeType): void {
  if (given === undefined || given === made) return;
  throw new InvalidRequest(`type is ${given}, but the script is that of a ${made} task`);
}

/** Checks a template's script. */
export function defineTemplate(
  script: string,
  environment: BuildEnvironment,
): { readonly type: EdgeType; readonly pipeline: Pipeline; readonly vars: Vars } {
  const built = buildPipeline(script, { isTemplate: true, ...environment });
  return { ...requirePipeline(built), vars: built.vars };
}

/** What a script makes. Throws `InvalidRequest` as the API answers it when that is nothing. */
export function requirePipeline(built: BuildResult): {
  readonly pipeline: Pipeline;
  readonly type: EdgeType;
} {
  if (built.error !== undefined) {
    const { diagnostics } = built;
    throw new InvalidRequest(definitionErrorText(built.error), { diagnostics });
  }
  if (built.pipeline === undefined || built.taskType === undefined) {
    throw new InvalidRequest('invalid task type: invalid');
  }
  return { pipeline: built.pipeline, type: built.taskType };
}

/** The script as `script-format` asks for it; a script that does not parse any more is shown as it is. */
export function showScript(script: string, format: 'formatted' | 'raw'): string {
  return format === 'raw' ? script : formatScript(script);
}
