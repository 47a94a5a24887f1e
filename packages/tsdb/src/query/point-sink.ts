// The target of INTO: it uses the same path as every other write.
import { InvalidRequest } from '@tidemark/core';
import type { PointSink } from '@tidemark/query';
import type { WriteOutcome } from '@tidemark/storage-api';

import { partialWrite } from '../compat/messages.ts';
import type { WriteService } from '../write/write-service.ts';

export function pointSink(writer: WriteService): PointSink {
  return {
    async write(target, points) {
      refuseDrops(await writer.writePoints(target, points));
    },
    async writeLines(target, body) {
      if (body.length === 0) return;
      const request = { target, body, precision: 'ns', isDetailed: false, isNews: true } as const;
      refuseDrops(await writer.writeLines(request));
    },
  };
}

function refuseDrops({ dropped, parseErrors }: WriteOutcome): void {
  const [first] = parseErrors;
  if (first !== undefined) throw new InvalidRequest(first);
  if (dropped === undefined || dropped.count === 0) return;
  throw new InvalidRequest(partialWrite(dropped.reason, dropped.count));
}
