// delete: removes fields and tags.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode } from '../definition/node-definition.ts';
import { callOption } from '../definition/option.ts';
import type { Option } from '../definition/option.ts';

export const deleteNode = defineNode({
  type: 'delete',
  label: 'delete',
  className: 'DeleteNode',
  category: 'transformation',
  summary: 'removes fields and tags',
  wants: 'any',
  provides: 'same',
  split: ({ tags }) => ({ kind: 'message', setsTags: tags }),
  options: {
    fields: names('field', 'removes a field'),
    tags: names('tag', 'removes a tag'),
  },
});

/** `.name('a')`; each call adds one. */
function names(name: string, summary: string): Option<readonly string[]> {
  return callOption<readonly string[]>([], {
    name,
    summary,
    parameters: [parameter('name', 'string')],
    apply: (before, values) => [...before, values.string(0)],
  });
}
