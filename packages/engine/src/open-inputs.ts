// Opens the listeners besides HTTP. Their points take the same path as every write.
import type { Budget, OpenParts } from '@tidemark/core';
import { openProtocolListeners, PointSources } from '@tidemark/listeners';
import type { ListenerLog } from '@tidemark/listeners';
import type { Stores } from './open-stores.ts';
import type { TaskParts } from './open-tasks.ts';

/**
 * Opens the configured listeners; `bodies` is the memory that they share with HTTP. Closed with
 * `parts`.
 */
export async function openInputs(
  { config, clock, logs }: Stores,
  { bodies, writes }: Pick<TaskParts, 'writes'> & { readonly bodies: Budget },
  parts: OpenParts,
): Promise<PointSources> {
  const tell = logs.logger('input');
  const log: ListenerLog = {
    info: (fields, message) => tell('info', message, { ...fields }),
    warn: (fields, message) => tell('warn', message, { ...fields }),
  };
  const inputs = new PointSources({
    clock,
    log,
    writer: {
      writePoints: ({ database, retentionPolicy }, points) => {
        const policy = retentionPolicy || config[''].defaultRetentionPolicy;
        return writes.writePoints({ database, retentionPolicy: policy }, points);
      },
    },
    // Tasks do not require that a database exists.
    prepare: () => Promise.resolve(),
    onRejected: (origin, rejected) => {
      for (const { text, reason, count = 1 } of rejected) {
        tell('warn', 'cannot read received data', { ...origin, text, reason, count });
      }
    },
  });
  parts.add(() => inputs.close());
  await openProtocolListeners(inputs, { config, clock, log, bodies });
  return inputs;
}
