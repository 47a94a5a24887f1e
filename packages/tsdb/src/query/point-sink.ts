// Where INTO writes to: the same way as every other write.
import { InvalidRequest } from '@tidemark/core';
import type { PointSink } from '@tidemark/query';

import { partialWrite } from '../compat/messages.ts';
import type { WriteService } from '../write/write-service.ts';

export function pointSink(writer: WriteService): PointSink {
  return {
    async write(target, points) {
      const outcome = await writer.writePoints(target, points);
      if (outcome.dropped === undefined || outcome.dropped.count === 0) return;
      throw new InvalidRequest(partialWrite(outcome.dropped.reason, outcome.dropped.count));
    },
  };
}
