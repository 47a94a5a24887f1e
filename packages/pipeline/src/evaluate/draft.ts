// Nodes and handlers under construction. The evaluation of a script makes and changes them;
// `finish.ts` turns them into a pipeline.
import type { Span } from '@tidemark/core';
import type { HandlerRow } from '../definition/handler-definition.ts';
import type { NodeRow, OptionsDraft } from '../definition/node-definition.ts';
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';
import type { TextSource } from './text-source.ts';
import type { EdgeType, HandlerOption, PropertyCall, SpecValue } from '../pipeline.ts';

export type DraftNode = {
  readonly row: NodeRow;
  /** Place in the pipeline's list of nodes. */
  readonly id: number;
  readonly name: string;
  readonly wants: EdgeType;
  readonly provides: EdgeType | 'none';
  readonly options: OptionsDraft;
  readonly parents: readonly DraftNode[];
  readonly children: DraftNode[];
  readonly handlers: DraftHandler[];
  readonly arguments: readonly SpecValue[];
  /** Of the first argument, where it is a text of the script. */
  readonly textSource: TextSource | undefined;
  readonly properties: PropertyCall[];
  readonly span: Span;
  isQuiet: boolean;
};

export type DraftHandler = {
  readonly row: HandlerRow;
  readonly arguments: readonly SpecValue[];
  readonly properties: PropertyCall[];
  options: { readonly [name: string]: HandlerOption };
  /** What validation will refuse. */
  readonly deferred: NodeDiagnostic[];
  readonly span: Span;
};
