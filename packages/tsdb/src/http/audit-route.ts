// /api/audit: who changed what, and who was refused.
import { parseAuditQuestion } from '@tidemark/process';

import { sendJson } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';

/** The newest entries first, selected by `before`, `user` and `text`. */
export async function handleAudit(exchange: Exchange, { audit }: HttpParts): Promise<void> {
  const { record } = audit;
  const question = parseAuditQuestion((name) => exchange.parameters.get(name));
  sendJson(exchange, 200, {
    isKept: record !== undefined,
    entries: (await record?.read(question)) ?? [],
  });
}
