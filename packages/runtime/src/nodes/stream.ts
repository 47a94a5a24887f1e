// stream: gives a name to what enters a stream task.
import { streamNode } from '@tidemark/pipeline';
import { implement } from '../implement.ts';
import { PassNode } from '../node-parts/pass-node.ts';

export const runningStream = implement(streamNode, (ctx) => new PassNode(ctx));
