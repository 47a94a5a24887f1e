// The part of a node in the runtime, besides its definition: its factory.
import type { NodeKind, NodeSpec, OptionsOfNode } from '@tidemark/pipeline';
import type { NodeContext, RunningNode } from './node.ts';

/** The context of the running node of a definition. */
export type ContextOf<Row> = NodeContext<OptionsOfNode<Row>>;

/** A definition that can be executed. */
export type Implementation = {
  readonly type: string;
  readonly create: (ctx: NodeContext) => RunningNode;
  /**
   * Throws the `StartError` with which the node would refuse to start because of one of its texts.
   */
  readonly checkTexts: (spec: NodeSpec) => void;
};

/** Joins a definition and its factory. The type of the options is that of the definition. */
export function implement<Options>(
  kind: NodeKind<Options>,
  create: (ctx: NodeContext<Options>) => RunningNode,
  more: { readonly checkTexts?: (options: Options) => void } = {},
): Implementation {
  const isOf = (ctx: NodeContext): ctx is NodeContext<Options> => kind.isOf(ctx.spec);
  return {
    type: kind.type,
    create: (ctx) => {
      if (!isOf(ctx)) throw new TypeError(`a node of type ${ctx.spec.type} is no ${kind.type}`);
      return create(ctx);
    },
    checkTexts: (spec) => {
      if (kind.isOf(spec)) more.checkTexts?.(spec.options);
    },
  };
}
