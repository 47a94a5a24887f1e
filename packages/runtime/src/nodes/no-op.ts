// noOp: passes everything on.
import { noOpNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { PassNode } from '../node-parts/pass-node.ts';

export const runningNoOp = implement(noOpNode, (ctx) => new PassNode(ctx));
