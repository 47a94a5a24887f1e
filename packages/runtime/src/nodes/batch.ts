// batch: names the input of a batch task.
import { batchNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { PassNode } from '../node-parts/pass-node.ts';

export const runningBatch = implement(batchNode, (ctx) => new PassNode(ctx));
