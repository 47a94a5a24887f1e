// Templates of the texts of a node, looked at without running it.
import type { AlertOptions, NodeSpec, SideloadOptions } from '@tidemark/pipeline';
import { alertTemplates } from './nodes/alert-texts.ts';
import { orderTemplates } from './nodes/sideload.ts';

/** Throws the `StartError` with which the node would not start because of a text. */
export function checkTexts({ type, options }: NodeSpec): void {
  if (type === 'alert') alertTemplates(options as AlertOptions);
  else if (type === 'sideload') orderTemplates(options as SideloadOptions);
}
