// stream: names the input of a stream task.
import { streamNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { PassNode } from '../node-parts/pass-node.ts';

export const runningStream = implement(streamNode, (ctx) => new PassNode(ctx));
