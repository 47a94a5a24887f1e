// Builds a pipeline from a script: the only entry that the engine uses at definition and at start.
import { assert } from '@tidemark/core';
import { bytePosition, parseScript } from '@tidemark/tickscript';
import type { Program, SyntaxDiagnostic } from '@tidemark/tickscript';
import { Evaluator } from './evaluate/evaluator.ts';
import { EvaluationFailure } from './evaluate/failure.ts';
import { DEFAULT_DEADMAN } from './evaluate/deadman-config.ts';
import type { DeadmanConfig } from './evaluate/deadman-config.ts';
import { declaredDbrps, deriveTaskType, sourceTypes } from './evaluate/task-type.ts';
import { checkStart, validateNodes } from './evaluate/validate.ts';
import { checkVarTexts } from './evaluate/var-values.ts';
import { warningsOf } from './evaluate/warnings.ts';
import { finishPipeline } from './evaluate/finish.ts';
import type { StartContext } from './definition/node-definition.ts';
import type { EdgeType, Pipeline } from './pipeline.ts';
import type { UdfRegistry } from './udf.ts';
import type { Vars } from './vars.ts';

export type BuildOptions = {
  /** Overrides the type derived from the script. */
  readonly taskType?: EdgeType | undefined;
  /** Values for the script's vars; names that the script does not declare are ignored. */
  readonly vars?: Vars | undefined;
  /** A template: typed vars without value get the zero value of their type. */
  readonly isTemplate?: boolean | undefined;
  readonly udfs?: UdfRegistry | undefined;
  readonly deadman?: DeadmanConfig | undefined;
};

/**
 * Why a script is refused. `text` is the recorded sentence without prefix; `definitionErrorText`
 * returns the API's text (`invalid TICKscript: …`, `invalid task type: invalid`).
 */
export type BuildError = {
  readonly kind: 'syntax' | 'task-type' | 'evaluation';
  readonly text: string;
};

export type BuildResult = {
  /** Absent exactly when `error` is present. */
  readonly pipeline?: Pipeline | undefined;
  readonly taskType?: EdgeType | undefined;
  /**
   * The vars which the script declares, with their defaults and descriptions (what a template
   * shows).
   */
  readonly vars: Vars;
  /** From `dbrp` statements, in order, without duplicates. */
  readonly dbrps: Pipeline['dbrps'];
  /** All errors, in order; empty exactly when there is no error. */
  readonly diagnostics: readonly SyntaxDiagnostic[];
  readonly error?: BuildError | undefined;
  /**
   * Checks that run only when the task starts: types of lambdas, texts of queries, edges, rules of
   * nodes. Returns the reasons why it cannot start; the first message is the recorded text. Absent
   * when `error` is present.
   */
  readonly checkStart?: ((context: StartContext) => readonly SyntaxDiagnostic[]) | undefined;
  /**
   * Mistakes that let the task start but fail for every point: unknown functions, operands that
   * they do not take, conditions that are none. Absent when `error` is present.
   */
  readonly warnings?: (() => readonly SyntaxDiagnostic[]) | undefined;
};

/** A script that has been parsed before, with its text. */
export type ParsedScript = { readonly program: Program; readonly text: string };

/** The API's text for a refused script. */
export function definitionErrorText(error: BuildError): string {
  return error.kind === 'task-type' ? error.text : `invalid TICKscript: ${error.text}`;
}

/** Evaluates a script. Never throws on any text; errors are in `error` and `diagnostics`. */
export function buildPipeline(
  script: ParsedScript | string,
  options: BuildOptions = {},
): BuildResult {
  const text = typeof script === 'string' ? script : script.text;
  const parsed = typeof script === 'string' ? parseScript(script) : undefined;
  const program = typeof script === 'string' ? parsed?.program : script.program;
  assert(program !== undefined, 'parsing always gives a program');
  const dbrps = declaredDbrps(program);
  const taskType = options.taskType ?? deriveTaskType(program);
  const common = { taskType, dbrps, vars: new Map(), diagnostics: [] };
  if (parsed?.error !== undefined) {
    const error = { kind: 'syntax', text: parsed.error } as const;
    return { ...common, diagnostics: parsed.diagnostics, error };
  }
  if (taskType === undefined) return { ...common, ...taskTypeError(program) };
  const vars = options.vars ?? new Map();
  const problem = checkVarTexts(vars);
  if (problem !== undefined) {
    const span = { start: 0, end: 0 };
    const place = { span, isPositioned: false };
    return {
      ...common,
      ...refused(text, [new EvaluationFailure('TICK_INVALID_VAR', problem, place)]),
    };
  }
  const evaluator = new Evaluator({
    taskType,
    vars,
    isTemplate: options.isTemplate === true,
    udfs: options.udfs ?? new Map(),
    deadman: options.deadman ?? DEFAULT_DEADMAN,
  });
  const declared = evaluator.declaredVars;
  const { nodes } = evaluator.graph;
  const failures = evaluator.run(program);
  const found = failures.length > 0 ? failures : validateNodes(nodes);
  if (found.length > 0) return { ...common, vars: declared, ...refused(text, found) };
  return {
    ...common,
    vars: declared,
    pipeline: finishPipeline(taskType, nodes, dbrps),
    checkStart: (context) => diagnosticsOf(text, checkStart(nodes, context)),
    warnings: () => diagnosticsOf(text, warningsOf(nodes)),
  };
}

function taskTypeError(program: Program): Pick<BuildResult, 'error' | 'diagnostics'> {
  const isBoth = sourceTypes(program).size > 1;
  const text = 'invalid task type: invalid';
  const finding = {
    code: 'TICK_TASK_TYPE',
    message: text,
    span: { start: 0, end: 0 },
    line: 1,
    column: 1,
    found: isBoth ? 'both' : 'neither',
    expected: ['stream', 'batch'],
    hint: isBoth
      ? 'a script has either stream|from() or batch|query(), not both'
      : 'a script reads points with stream|from(), or asks a database with batch|query()',
  };
  return { error: { kind: 'task-type', text }, diagnostics: [finding] };
}

/** The first failure is the error that existing tools see; all of them are diagnostics. */
function refused(
  text: string,
  failures: readonly EvaluationFailure[],
): Pick<BuildResult, 'error' | 'diagnostics'> {
  const diagnostics = diagnosticsOf(text, failures);
  return { error: { kind: 'evaluation', text: diagnostics[0]?.message ?? '' }, diagnostics };
}

function diagnosticsOf(
  text: string,
  failures: readonly EvaluationFailure[],
): readonly SyntaxDiagnostic[] {
  return failures.map(({ code, span, details, message, isPositioned }) => {
    const { line, column } = bytePosition(text, span.start);
    const sentence = isPositioned ? `line ${line} char ${column}: ${message}` : message;
    return { code, message: sentence, span, line, column, ...details };
  });
}
