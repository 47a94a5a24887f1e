// Chain methods that create something other than one node below the last: several nodes, a separate
// source, or none.
import type { Span } from '@tidemark/core';
import type { DraftNode } from '../evaluate/draft.ts';
import type { DeadmanConfig } from '../evaluate/deadman-config.ts';
import type { Graph } from '../evaluate/graph.ts';
import type { Arguments, Parameter } from '../evaluate/parameter.ts';
import type { ChainRule, NodeRow } from './node-definition.ts';

export type MacroCall = {
  readonly graph: Graph;
  /** The node that the method is called on. */
  readonly source: DraftNode;
  readonly values: Arguments;
  readonly deadman: DeadmanConfig;
  readonly span: Span;
};

export type Macro = ChainRule & {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
} & (
    | {
        /** Allowed below every node, including the sources of tasks and nodes without an output. */
        readonly isEverywhere: true;
        /** The node that continues the chain. */
        readonly makes: NodeRow;
        readonly apply: (call: MacroCall) => DraftNode;
      }
    | {
        /** Known in other engines, but refused with this sentence. */
        readonly refusal: { readonly text: string; readonly hint: string };
      }
  );
