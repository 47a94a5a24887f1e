// Nodes and handlers under construction. The evaluation of a script creates and changes them;
// `finish.ts` turns them into a pipeline.
import type { Span } from '@tidemark/core';
import type { HandlerDraft, HandlerRow } from '../definition/handler-definition.ts';
import type { NodeRow, OptionsDraft } from '../definition/node-definition.ts';
import type { TextSource } from './text-source.ts';
import type { EdgeType, PropertyCall, SpecValue } from '../pipeline.ts';

export type DraftNode = {
  readonly row: NodeRow;
  /** Index in the pipeline's list of nodes. */
  readonly id: number;
  readonly name: string;
  readonly wants: EdgeType;
  readonly provides: EdgeType | 'none';
  readonly options: OptionsDraft;
  readonly parents: readonly DraftNode[];
  readonly children: DraftNode[];
  readonly handlers: DraftHandler[];
  readonly arguments: readonly SpecValue[];
  /** Source of the first argument, if it is a text of the script. */
  readonly textSource: TextSource | undefined;
  readonly properties: PropertyCall[];
  readonly span: Span;
  isQuiet: boolean;
};

export type DraftHandler = {
  readonly row: HandlerRow;
  readonly arguments: readonly SpecValue[];
  readonly properties: PropertyCall[];
  readonly options: HandlerDraft;
  readonly span: Span;
};
