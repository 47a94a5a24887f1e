// A pipeline: the definition of a task as plain data, built from a script, printable as DOT and
// JSON, executed by the runtime.
import type { ExpressionNode } from '@tidemark/tickscript';
import type { Span } from '@tidemark/core';

/** The messages on an edge. */
export type EdgeType = 'stream' | 'batch';

/**
 * A lambda after evaluation of the script: every identifier has been replaced by a literal;
 * embedded lambda vars are `lambda` nodes with state of their own. Never contains `identifier` or
 * `chain` nodes.
 */
export type LambdaSpec = { readonly kind: 'lambda'; readonly expression: ExpressionNode };

/** A property's value after evaluation. Integers and durations are told apart by their wrapper. */
export type SpecValue =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'duration'; readonly nanos: bigint }
  | { readonly kind: 'regex'; readonly pattern: string; readonly literal: string }
  | { readonly kind: 'star' }
  | { readonly kind: 'list'; readonly items: readonly SpecValue[] }
  | LambdaSpec;

/** One call of a property: `.tag('k', 'v')` is `{name: 'tag', values: ['k', 'v']}`. */
export type PropertyCall = {
  readonly name: string;
  readonly values: readonly SpecValue[];
  readonly span: Span;
};

/** A handler's option, as in the JSON of topic handlers. */
export type HandlerOption =
  | string
  | number
  | boolean
  | readonly HandlerOption[]
  | { readonly [name: string]: HandlerOption };

/**
 * A handler attached in a script, `.slack().channel('#ops')`. `kind` and `options` are those of the
 * equivalent topic handler (`chat`, `{channel: '#ops'}`); arguments and properties are as written
 * in the script.
 */
export type HandlerSpec = {
  readonly kind: string;
  readonly options?: { readonly [name: string]: HandlerOption } | undefined;
  readonly arguments: readonly SpecValue[];
  readonly properties: readonly PropertyCall[];
  readonly span: Span;
};

/**
 * A node of a task. `type` is the registry row (`window`, `mean`, `alert`); `options` are the
 * validated, defaulted properties in the shape which that row's TypeScript type names
 * (packages/pipeline/src/nodes/<type>.ts exports it).
 */
export type NodeSpec<Options = unknown> = {
  readonly id: number;
  /**
   * `window2`: description of the type followed by the number that existing tools expect. The
   * number is not the id: nodes with several parents use up one number per parent.
   */
  readonly name: string;
  readonly type: string;
  readonly wants: EdgeType;
  readonly provides: EdgeType | 'none';
  /** Ids of parents in the order in which they were connected. */
  readonly parents: readonly number[];
  /** Ids of children in creation order. */
  readonly children: readonly number[];
  readonly options: Options;
  /**
   * The calls in the script that created the node, from which the JSON form of a pipeline is
   * printed.
   */
  readonly calls?:
    | { readonly arguments: readonly SpecValue[]; readonly properties: readonly PropertyCall[] }
    | undefined;
  readonly isQuiet: boolean;
  readonly span: Span;
};

export type Pipeline = {
  readonly type: EdgeType;
  /** In creation order; `nodes[i].id` is `i`. Node 0 is the source. */
  readonly nodes: readonly NodeSpec[];
  readonly dbrps: readonly { readonly database: string; readonly retentionPolicy: string }[];
};
