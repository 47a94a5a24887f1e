// Runs where the files of `added` are part of the packages: uses the node and the handler in every
// way and prints the results.
import { findHandlerKind, refusedReach } from '@tidemark/alerting';
import {
  buildPipeline,
  completeScript,
  formatHandlerReference,
  formatNodeReference,
  parsePipeline,
  printPipeline,
  printPipelineScript,
} from '@tidemark/pipeline';
import { createTask, PointBatchBuilder, VirtualTimers } from '@tidemark/runtime';
import { silentServices } from '@tidemark/runtime/testing';
import { ALLOW_EVERYTHING, decodeOptions } from '@tidemark/settings';

const SCRIPT = `stream
    |from()
    |scale('v')
        .by(3)
    |alert()
        .crit(lambda: "v" > 5.0)
        .shout('everybody')
        .words('listen', 'now')
`;

const { pipeline, error } = buildPipeline(SCRIPT);
if (pipeline === undefined) throw new Error(error?.text);

const timers = new VirtualTimers(0n);
const clock = { now: () => timers.now(), monotonicMs: () => 0, sleep: () => Promise.resolve() };
const task = createTask(pipeline, silentServices(), { taskId: 't', clock, timers });
const values: unknown[] = [];
task.tap('scale2', (message) => {
  if (message.kind === 'point') values.push(message.point.fields.get('v'));
});
await task.start();
const points = new PointBatchBuilder('d', 'r');
points.add({ name: 'm', tags: [], fields: [['v', 2]], time: 1n });
task.push(points.build());
await task.close();

const kind = findHandlerKind('shout');
const given = pipeline.nodes[3]?.options as { handlers: readonly { options: object }[] };
const options = decodeOptions(kind?.options ?? {}, 'shout', given.handlers[0]?.options);
const refusing = { ...ALLOW_EVERYTHING, refuseFile: (path: string) => `not ${path}` };

process.stdout.write(
  JSON.stringify({
    values,
    handler: options.ok ? options.options : options.reason,
    isSending: kind !== undefined && 'send' in kind,
    refused: kind && options.ok ? refusedReach(kind, options.options, refusing) : [],
    invalid: buildPipeline("stream|from()|scale('v').by(0)").error?.text,
    json: parsePipeline(printPipeline(pipeline)).error ?? 'read back',
    script: printPipelineScript(pipeline).script === SCRIPT,
    completed: completeScript('stream|from()|', 14).completions.some(
      ({ label, signature }) => label === 'scale' && signature === '(field: string)',
    ),
    pages:
      formatNodeReference().includes('### scale') && formatHandlerReference().includes('## shout'),
  }),
);
