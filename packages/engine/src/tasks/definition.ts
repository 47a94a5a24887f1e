// Builds a pipeline from a client's definition: the checks of scripts, vars and database pairs that
// tasks, templates and replays share.
import { InvalidRequest } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';
import { buildPipeline, definitionErrorText, parseVars } from '@tidemark/pipeline';
import type { BuildResult, DeadmanConfig, EdgeType, Pipeline, Vars } from '@tidemark/pipeline';
import type { UdfRegistry } from '@tidemark/pipeline';
import { formatScript } from '@tidemark/tickscript';
import type { SyntaxDiagnostic } from '@tidemark/tickscript';
import type { Dbrp, TaskRecord } from '../store/records.ts';
import { parseJson } from '../formats/json.ts';
import { hideSecretVars } from './secret-vars.ts';
import { diagnosticAt } from './start-diagnostics.ts';

/** The configuration's additions to every script; omitted ones have their defaults. */
export type BuildEnvironment = {
  readonly udfs?: UdfRegistry | undefined;
  readonly deadman?: DeadmanConfig | undefined;
  /** Refuses a pipeline with programs or files that are not permitted. */
  readonly checkAccess?: ((pipeline: Pipeline) => void) | undefined;
};

export type Definition = {
  readonly type: EdgeType;
  readonly dbrps: readonly Dbrp[];
  readonly pipeline: Pipeline;
  /** Problems that keep the task from starting; the first message is the recorded text. */
  readonly checkStart: () => readonly SyntaxDiagnostic[];
  /** Problems that let the task start but fail for every point. */
  readonly warnings: () => readonly SyntaxDiagnostic[];
};

export type DefinitionInput = {
  readonly script: string;
  readonly vars: Vars;
  /** Databases and policies of the request. */
  readonly dbrps: readonly Dbrp[];
  /** The stored pairs, used if neither client nor script names any. */
  readonly storedDbrps?: readonly Dbrp[] | undefined;
};

/**
 * Checks a task's script with its vars and database pairs. Throws `InvalidRequest` with the API's
 * text.
 */
export function defineTask(input: DefinitionInput, environment: BuildEnvironment): Definition {
  if (input.script === '') throw new InvalidRequest('must provide TICKscript');
  const { built, shown, pipeline, type } = buildTask(input, environment);
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
    checkStart: () => {
      const found = built.checkStart?.(context) ?? [];
      if (found.length === 0 || shown === built) return found;
      const said = shown.checkStart?.(context) ?? [];
      return said.length > 0 ? said : [misfitOf(input.script, found)];
    },
    warnings: () => shown.warnings?.() ?? [],
  };
}

type BuiltTask = {
  readonly built: BuildResult;
  /**
   * The same with markers for secrets. Diagnostics come from here, because they quote pieces of the
   * script.
   */
  readonly shown: BuildResult;
  readonly pipeline: Pipeline;
  readonly type: EdgeType;
};

function buildTask({ script, vars }: DefinitionInput, environment: BuildEnvironment): BuiltTask {
  const shownVars = hideSecretVars(vars);
  const build = (using: Vars): BuildResult =>
    buildPipeline(script, { vars: using, ...environment });
  const check = (built: BuildResult): ReturnType<typeof requirePipeline> => {
    const required = requirePipeline(built);
    environment.checkAccess?.(required.pipeline);
    return required;
  };
  const built = build(vars);
  const shown = shownVars === vars ? built : build(shownVars);
  try {
    return { built, shown, ...check(built) };
  } catch (error) {
    if (shown === built || !(error instanceof InvalidRequest)) throw error;
    check(shown);
    const misfit = misfitOf(script, error.diagnostics);
    throw new InvalidRequest(misfit.message, { diagnostics: [misfit] });
  }
}

/** The diagnostic of a script that is invalid only because of the value of a secret. */
function misfitOf(script: string, found: readonly Diagnostic[]): SyntaxDiagnostic {
  const message = 'invalid TICKscript: the value of a secret var does not fit where it is used';
  const [first] = found;
  const span = first?.span ?? { start: 0, end: 0 };
  return diagnosticAt(script, span, { code: first?.code ?? 'TICK_INVALID_VAR', message });
}

/** Reads the vars of a request. Throws `InvalidRequest` in the recorded words. */
export function readVars(json: unknown): Vars {
  const { vars, error } = parseVars(json);
  if (error !== undefined) throw new InvalidRequest(error);
  return vars;
}

/** Refuses a type that differs from the script's. */
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

/** The pipeline of a script. Throws `InvalidRequest` with the API's text if there is none. */
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

/** The script in the form of `script-format`; a script that no longer parses is shown as it is. */
export function showScript(script: string, format: 'formatted' | 'raw'): string {
  return format === 'raw' ? script : formatScript(script);
}

/** Vars as they are stored with a task. */
export function varsOf(record: TaskRecord): Vars {
  return readVars(parseJson(Buffer.from(record.varsJson), ''));
}
