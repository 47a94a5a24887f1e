// From a script to a pipeline: the one entry that the engine uses at definition and at start.
import type { Diagnostic } from '@tidemark/core';
import type { Program } from '@tidemark/tickscript';
import type { EdgeType, Pipeline } from './pipeline.ts';
import type { Vars } from './vars.ts';

/** Types of values that a user-defined function's option takes. */
export type UdfValueType = 'bool' | 'int' | 'float' | 'string' | 'duration';

/** What a user-defined function declares about itself: its edges and the values that each option takes. */
export type UdfInfo = {
  readonly wants: EdgeType;
  readonly provides: EdgeType;
  readonly options: Readonly<Record<string, readonly UdfValueType[]>>;
};

/** The configured user-defined functions by name. */
export type UdfRegistry = ReadonlyMap<string, UdfInfo>;

/** `[deadman]` of the configuration. With `isGlobal` every task's source gets a deadman. */
export type DeadmanConfig = {
  readonly id: string;
  readonly message: string;
  readonly intervalNanos: bigint;
  readonly threshold: number;
  readonly isGlobal: boolean;
};

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
 * Why a script is refused. `text` is the recorded sentence without prefix; `definitionErrorText` gives what the API
 * answers (`invalid TICKscript: …`, `invalid task type: invalid`).
 */
export type BuildError = {
  readonly kind: 'syntax' | 'task-type' | 'evaluation';
  readonly text: string;
};

export type BuildResult = {
  /** Absent exactly when `error` is present. */
  readonly pipeline?: Pipeline | undefined;
  readonly taskType?: EdgeType | undefined;
  /** The vars which the script declares, with their defaults and descriptions (what a template shows). */
  readonly vars: Vars;
  /** From `dbrp` statements, in order, duplicates kept once. */
  readonly dbrps: Pipeline['dbrps'];
  readonly diagnostics: readonly Diagnostic[];
  readonly error?: BuildError | undefined;
};

/** Signature of `buildPipeline`. */
export type BuildPipeline = (script: Program | string, options?: BuildOptions) => BuildResult;
